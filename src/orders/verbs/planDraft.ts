import type { Address } from 'viem'
import { UnsupportedTokenError } from '../../chain/rpc/errors.js'
import { getTokenAndHead, type Token } from '../../chain/state/getToken.js'
import { parseAmount } from '../../core/amount.js'
import type { MembersOf } from '../../core/checkMembers.js'
import { checkClock } from '../../core/clock.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { PrimaryType } from '../../core/types.js'
import { eip3009 } from '../../payments/verify/kind.js'
import type { AttemptRecord, OrderRecord } from '../../store/types.js'
import { drawSender } from '../model/sendersOf.js'
import type { OrdersContext } from '../model/types.js'
import { newAttempt, parseWindow, windowFrom } from './newAttempt.js'
import { parseMetadata } from './parseMetadata.js'

/** What `draft` takes. */
export type DraftOrderParameters = {
  /** Up to 128 characters. @default a random id */
  orderId?: string | undefined
  /** @default the only one configured */
  chainId?: number | undefined
  /** @default the only one */
  token?: Address | undefined
  /** @default the only one */
  recipient?: Address | undefined
  /** A decimal such as `'12.50'`, in whole tokens. */
  amount: string
  /** Who has to pay. @default anyone */
  payer?: Address | undefined
  /**
   * Seconds from now until the payment expires; more than
   * `policy.safetyMargin`. @default `policy.window`
   */
  window?: bigint | undefined
  /** @default 'ReceiveWithAuthorization' */
  primaryType?: PrimaryType | undefined
  /** Plain JSON to keep with the order, up to 8 kB. */
  metadata?: Readonly<Record<string, unknown>> | undefined
}

export const draftMembers: MembersOf<DraftOrderParameters> = {
  orderId: true,
  chainId: true,
  token: true,
  recipient: true,
  amount: true,
  payer: true,
  window: true,
  primaryType: true,
  metadata: true,
}

const primaryTypes: readonly string[] = [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
]

/** An order and its first attempt, ready to insert. */
export type Draft = {
  order: Omit<OrderRecord, 'version' | 'position'>
  attempt: Omit<AttemptRecord, 'version'>
}

/** Plans a new order from its parameters and the chain. */
export async function planDraft(
  context: OrdersContext,
  {
    parameters,
    ...row
  }: Pick<OrderRecord, 'id' | 'buyerTokenHash'> & {
    parameters: DraftOrderParameters
  },
): Promise<Draft> {
  const facts = await getFacts(context, parameters)
  return fillDraft(context, { ...facts, ...row })
}

/** The facts of a new order. */
export type DraftFacts = {
  token: Pick<Token, 'domain' | 'decimals'>
  time: bigint
  window: bigint
  value: bigint
  recipient: Address
  payer: Address | undefined
  primaryType: PrimaryType
  metadata: OrderRecord['metadata']
}

async function getFacts(
  context: OrdersContext,
  parameters: DraftOrderParameters,
): Promise<DraftFacts> {
  const { primaryType = 'ReceiveWithAuthorization' } = parameters
  if (!primaryTypes.includes(primaryType))
    throw new InvalidFieldError('primaryType', primaryType, primaryTypes)
  const metadata = parseMetadata(parameters.metadata)
  const window = parseWindow(context.policy, parameters.window)
  const { client, ...chosen } = chooseToken(context, parameters)
  const recipient = chooseRecipient(context, chosen, {
    ...parameters,
    primaryType,
  })
  const payer =
    parameters.payer === undefined
      ? undefined
      : parseCheckedAddress(parameters.payer, 'payer')
  if (payer === recipient)
    throw new InvalidFieldError(
      'payer',
      payer,
      'another account than the recipient',
    )
  const { token, head } = await getTokenAndHead(client, chosen.token)
  const { timestamp: time, chainId } = head
  if (chainId !== chosen.chainId)
    throw new InvalidFieldError(
      'chainId',
      chainId,
      `${chosen.chainId}, the chain of the client`,
      "Correct the client's chain, or the URL of its node.",
    )
  checkClock(head, context.now() / 1000n)
  const { receive, transfer } = token.capabilities
  if (!(primaryType === 'ReceiveWithAuthorization' ? receive : transfer))
    throw new UnsupportedTokenError({
      token: chosen.token,
      problem: `cannot settle ${primaryType}`,
    })
  const value = parseAmount(parameters.amount, token.decimals)
  return { token, time, window, value, recipient, payer, primaryType, metadata }
}

/** Creates the rows of a new order, with a new payment nonce. */
export function fillDraft(
  context: OrdersContext,
  draft: DraftFacts & Pick<OrderRecord, 'id' | 'buyerTokenHash'>,
): Draft {
  const { token, time, window, ...fields } = draft
  const { chainId, name, version, verifyingContract } = token.domain
  const { validAfter, validBefore } = windowFrom(time, window)
  const { id, payer, value } = fields
  return {
    order: {
      ...fields,
      chainId,
      token: verifyingContract,
      sequence: 0,
      submitter: chooseSubmitter(context, { ...fields, chainId }),
      state: 'drafted',
      attempt: 1,
      kind: eip3009.name,
      total: 'amount',
      captureValue: undefined,
      decimals: token.decimals,
      tokenName: name,
      tokenVersion: version,
      createdAt: time,
      deadline: validBefore,
      sendDue: undefined,
      lookDue: validBefore,
      requested: undefined,
      reason: undefined,
      tries: 0,
      needsReview: false,
      unexpected: false,
      overpaid: false,
      fulfilled: undefined,
      finality: undefined,
      settledHash: undefined,
      settledBlock: undefined,
      refunds: 0,
      refundOf: undefined,
      refundId: undefined,
      refundTo: undefined,
      refundAttempt: undefined,
    },
    attempt: newAttempt({
      orderId: id,
      number: 1,
      chainId,
      token: verifyingContract,
      payer,
      value,
      validAfter,
      validBefore,
    }),
  }
}

type Choice = {
  chainId?: number | undefined
  token?: Address | undefined
  recipient?: Address | undefined
}

/**
 * Returns the token of a draft: the given one, or the only one configured.
 *
 * @throws {@link InvalidFieldError}
 */
export function chooseToken(
  { tokens }: OrdersContext,
  { chainId, token: given }: Choice,
): OrdersContext['tokens'][number] {
  const token =
    given === undefined ? undefined : parseCheckedAddress(given, 'token')
  const fitting = tokens.filter(
    (known) =>
      (chainId === undefined || known.chainId === chainId) &&
      (token === undefined || known.token === token),
  )
  const [only] = fitting
  if (only && fitting.length === 1) return only
  if (only)
    throw new InvalidFieldError(
      'token',
      token,
      'given with chainId, since several tokens fit',
    )
  if (token === undefined && chainId !== undefined)
    throw new InvalidFieldError(
      'chainId',
      chainId,
      tokens.map((known) => known.chainId),
    )
  throw new InvalidFieldError(
    'token',
    token,
    tokens.map((known) => known.token),
  )
}

/**
 * Returns the recipient of a draft: the given one, or the only one configured.
 * For a Receive payment, it must be a wallet of ours.
 *
 * @throws {@link InvalidFieldError}
 */
export function chooseRecipient(
  { destinations, wallets }: OrdersContext,
  { chainId, token }: { chainId: number; token: Address },
  { recipient, primaryType }: Choice & { primaryType: PrimaryType },
): Address {
  const isReceive = primaryType === 'ReceiveWithAuthorization'
  const fitting = destinations
    .filter(
      (destination) =>
        destination.chainId === chainId && destination.token === token,
    )
    .map((destination) => destination.recipient)
    .filter(
      (one) =>
        !isReceive ||
        wallets.some(
          ({ submitter }) =>
            submitter.chainId === chainId && submitter.account === one,
        ),
    )
  const asked =
    recipient === undefined
      ? undefined
      : parseCheckedAddress(recipient, 'recipient')
  const only = fitting.length === 1 ? fitting[0] : undefined
  const found = asked ?? only
  if (found && fitting.includes(found)) return found
  const kind = isReceive ? 'the account of a wallet' : 'a recipient'
  throw new InvalidFieldError(
    'recipient',
    asked,
    asked || !fitting.length
      ? `${kind} of these orders`
      : 'given, since these orders have several',
  )
}

/**
 * Chooses the account that sends: the recipient if it is a wallet, otherwise
 * one of the relayers.
 */
function chooseSubmitter(
  context: Pick<OrdersContext, 'wallets' | 'relayers'>,
  order: { chainId: number; recipient: Address },
): Address {
  return drawSender(context, order)?.submitter.account ?? order.recipient
}
