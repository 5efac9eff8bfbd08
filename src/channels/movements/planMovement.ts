import { type Address, type Hex, keccak256 } from 'viem'
import { drawNonce } from '../../core/drawNonce.js'
import type { SignedPayment, TokenDomain } from '../../core/types.js'
import { draftedOrder, unsignedAttempt } from '../../orders/engine.js'
import type { AttemptRecord, OrderRecord } from '../../store/types.js'
import { channelContract, depositCollector } from '../contract/channelDomain.js'
import type { ChannelConfig, ClaimRow } from '../contract/types.js'
import { channelKindName } from './channels.js'
import {
  type ClaimSignatures,
  encodeClaimSignatures,
} from './claimSignatures.js'
import { encodeMovementTerms, type MovementTerms } from './movementTerms.js'

/** A movement to store. Its secret is not encrypted yet: never log it. */
export type PlannedMovement = {
  order: Omit<OrderRecord, 'version' | 'position'>
  attempt: Omit<AttemptRecord, 'version'>
  /** What its call must carry: a signature, or those of a claim. */
  secret: string
}

/** What all movements of a token have in common. */
export type MovementFacts = {
  /** The token's EIP-712 domain. */
  domain: TokenDomain
  decimals: number
  /** Account that sends the transaction. */
  submitter: Address
  /** Time of the newest block, Unix seconds. */
  createdAt: bigint
}

/**
 * Hash that no buyer token has: these rows have no buyer who opens a page.
 */
const noBuyerToken: Hex =
  '0x0000000000000000000000000000000000000000000000000000000000000000'

/**
 * Seconds before it is stored in which a deposit may have been made by somebody
 * else: the search for it goes back so far.
 */
const longestSearch = 3_600n

/** Seconds after which a claim or refund that was not sent is given up. */
const usualWindow = 3_600n

/** Id of the row of a deposit: the same for the same signed payment. */
export function depositIdOf(
  channelId: Hex,
  { message }: Pick<SignedPayment, 'message'>,
): string {
  return `${channelId}+${message.nonce.slice(2, 18)}`
}

/**
 * Id of the row of a refund.
 *
 * @param tries number of earlier rows for the same refund nonce, which were
 * refused or expired.
 */
export function channelRefundIdOf(
  channelId: Hex,
  refundNonce: bigint,
  tries = 0,
): string {
  const id = `${channelId}-${refundNonce}`
  return tries === 0 ? id : `${id}.${tries}`
}

/** Builds the row of a deposit, which a worker sends at once. */
export function planDeposit(
  facts: MovementFacts,
  {
    channelId,
    config,
    payment,
    salt,
  }: {
    channelId: Hex
    config: ChannelConfig
    /** The signed payment of `buildDeposit`. */
    payment: SignedPayment
    /** `salt` of the same deposit. */
    salt: Hex
  },
): PlannedMovement {
  const { message, signature } = payment
  const { value, nonce, validAfter, validBefore } = message
  const earliest = facts.createdAt - longestSearch
  const planned = planMovement(facts, {
    id: depositIdOf(channelId, payment),
    parentId: channelId,
    payer: config.payer,
    recipient: config.receiver,
    payee: depositCollector,
    value,
    nonce,
    validAfter: validAfter < earliest ? earliest : validAfter,
    validBefore,
    terms: { action: 'deposit', channelId, config, salt },
    secret: signature,
  })
  const { attempt } = planned
  return {
    ...planned,
    attempt: {
      ...attempt,
      signedAfter: validAfter,
      signedBefore: validBefore,
      signatureHash: keccak256(signature),
      spendableUntil: validBefore,
      spendable: true,
    },
  }
}

/** A channel to claim from, with its id. */
export type PlannedRow = ClaimRow & { channelId: Hex }

/**
 * Builds the row of a claim, which a worker sends at once: one transaction that
 * claims from up to 100 channels of one receiver, token and authorizer, and
 * settles. Without rows, it only settles.
 */
export function planClaim(
  facts: MovementFacts,
  {
    receiver,
    rows,
    signatures,
    value,
    random = drawNonce(),
    validBefore = facts.createdAt + usualWindow,
  }: {
    receiver: Address
    rows: readonly PlannedRow[]
    /** What the authorizer signed, of `signClaim`. */
    signatures: Omit<ClaimSignatures, 'vouchers'>
    /** Base units that the claim is expected to take, for what is shown. */
    value: bigint
    /** 32 bytes that name the claim. @default random bytes */
    random?: Hex | undefined
    /**
     * Unix seconds after which it is given up if it was not sent. Claims that
     * end earlier are sent first. @default an hour after `createdAt`
     */
    validBefore?: bigint | undefined
  },
): PlannedMovement {
  const { verifyingContract: token } = facts.domain
  const vouchers = rows.map(({ signature }) => signature)
  return planMovement(facts, {
    id: `claim+${random.slice(2, 18)}`,
    parentId: undefined,
    payer: channelContract,
    recipient: receiver,
    payee: undefined,
    value,
    nonce: random,
    validAfter: facts.createdAt - 1n,
    validBefore,
    terms: {
      action: 'claim',
      receiver,
      token,
      rows: rows.map(({ signature, ...row }) => row),
    },
    secret: encodeClaimSignatures({ ...signatures, vouchers }),
  })
}

/**
 * Builds the row of a refund to the payer of a channel, which a worker sends
 * once the chain shows that all charges are claimed.
 */
export function planChannelRefund(
  facts: MovementFacts,
  {
    channelId,
    config,
    value,
    refundNonce,
    tries,
    charged,
    signature,
    random = drawNonce(),
    validBefore = facts.createdAt + usualWindow,
  }: {
    channelId: Hex
    config: ChannelConfig
    /** Base units to give back: at most the balance minus `charged`. */
    value: bigint
    /** The channel's refund nonce. */
    refundNonce: bigint
    /** Number of earlier rows for this refund nonce. @default 0 */
    tries?: number | undefined
    /** Base units that the channel was charged in total. */
    charged: bigint
    /**
     * What the authorizer signed, of `signChannelRefund`. With `0x`, only the
     * receiver's own account can send it.
     */
    signature: Hex
    /** 32 random bytes. */
    random?: Hex | undefined
    /** Unix seconds after which it is given up if it was not sent. */
    validBefore?: bigint | undefined
  },
): PlannedMovement {
  return planMovement(facts, {
    id: channelRefundIdOf(channelId, refundNonce, tries),
    parentId: channelId,
    payer: channelContract,
    recipient: config.receiver,
    payee: config.payer,
    value,
    nonce: random,
    validAfter: facts.createdAt - 1n,
    validBefore,
    terms: { action: 'refund', channelId, config, refundNonce, charged },
    secret: signature,
  })
}

function planMovement(
  { domain, decimals, submitter, createdAt }: MovementFacts,
  {
    id,
    parentId,
    payer,
    recipient,
    payee,
    value,
    nonce,
    validAfter,
    validBefore,
    terms,
    secret,
  }: Pick<OrderRecord, 'id' | 'parentId' | 'recipient' | 'payee' | 'value'> &
    Pick<AttemptRecord, 'nonce' | 'validAfter' | 'validBefore'> & {
      payer: Address
      terms: MovementTerms
      secret: string
    },
): PlannedMovement {
  const { chainId, verifyingContract: token, name, version } = domain
  return {
    order: {
      ...draftedOrder,
      chainId,
      token,
      recipient,
      id,
      submitter,
      state: 'stored',
      requested: 'capture',
      sendDue: 0n,
      lookDue: validBefore,
      kind: channelKindName,
      total: 'amount',
      value,
      decimals,
      primaryType: undefined,
      tokenName: name,
      tokenVersion: version,
      payer,
      payee,
      buyerTokenHash: noBuyerToken,
      metadata: {},
      createdAt,
      deadline: validBefore,
      role: 'movement',
      parentId,
    },
    attempt: {
      ...unsignedAttempt,
      chainId,
      token,
      orderId: id,
      number: 1,
      nonce,
      payer,
      validAfter,
      validBefore,
      value,
      terms: encodeMovementTerms(terms),
    },
    secret,
  }
}
