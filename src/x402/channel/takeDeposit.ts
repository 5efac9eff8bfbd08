import { depositCollector, depositNonce } from '../../channels/engine.js'
import { formatAmount } from '../../core/amount.js'
import type { SignedPayment } from '../../core/types.js'
import { verifyPayment } from '../../payments/verify/verifyPayment.js'
import type { ChannelRecord } from '../../store/types.js'
import type { DepositVerdict } from '../gate/channelDesk.js'
import type { Refusal } from '../gate/types.js'
import type { Sent } from './channelState.js'
import {
  correctCall,
  isPublished,
  judgePaid,
  refuseStopped,
} from './judgePaid.js'
import type { AskedDeposit } from './parsePayload.js'
import { built, busy, type CodeName, refusedBy } from './refusals.js'
import type { Reply, SignedCall } from './types.js'

/** A channel whose deposit is credited. `sent` is the one of this request. */
type Deposited = { channel: ChannelRecord; sent: Sent }

/**
 * Makes the deposit of a request, and waits until it is credited. Makes none if
 * the voucher would not pay for the request even then, or if the channel has
 * enough already: a client that lost its state or an answer deposits again.
 *
 * @param channel as the chain shows it now; absent if it was never used.
 */
export async function takeDeposit(
  call: SignedCall,
  asked: AskedDeposit,
  channel: ChannelRecord | undefined,
): Promise<Deposited | Reply> {
  const { desk, named, payload, terms } = call
  const payment = paymentOf(call, asked)
  const before = channel && (await desk.findDeposit(named.id, payment))
  if (channel && before?.ok) {
    const refused = await judgePaid(call, channel)
    return refused ? built(refused) : { channel, sent: before }
  }
  const refused =
    (await refuseBefore(call, channel)) ??
    refuseAmount(call, asked, channel?.balance ?? 0n)
  if (refused) return built(refused)
  if (!before) {
    const code = await refusePayment(call, payment)
    if (code) return built(refusedBy(call.asked, code))
  }
  const { salt } = asked
  const { timeout } = call.gate
  const version = channel?.version ?? 0
  const wanted = { ...named, payment, salt, version }
  const { early } = terms.offer
  const made = await desk.deposit(wanted, { timeout, early })
  if (!made.ok) return built(explain(call, made.reason))
  const { maxClaimable } = payload
  // Somebody changed the channel while the deposit was made.
  const judged =
    maxClaimable === made.channel.charged + terms.value
      ? await judgePaid(call, made.channel)
      : await correctCall(call, made.channel)
  return judged ? built(judged) : { channel: made.channel, sent: made }
}

/** Refuses a deposit that the voucher or the channel does not need. */
async function refuseBefore(
  call: SignedCall,
  channel: ChannelRecord | undefined,
): Promise<Refusal | undefined> {
  const { payload, terms } = call
  const { maxClaimable } = payload
  const { charged, balance, state, reason } = channel ?? nothing
  if (channel && isPublished(channel, maxClaimable))
    return judgePaid(call, channel)
  if (maxClaimable !== charged + terms.value)
    return channel
      ? correctCall(call, channel)
      : refusedBy(call.asked, 'cumulative_amount_mismatch')
  if (!channel) return undefined
  if (state === 'stopped' && reason !== 'uncovered')
    return refuseStopped(call, channel)
  // Enough is deposited: makes the client read its balance on chain.
  return maxClaimable <= balance ? correctCall(call, channel) : undefined
}

const nothing = {
  charged: 0n,
  balance: 0n,
  state: 'opening',
  reason: undefined,
} as const

function refuseAmount(
  { asked, terms, payload }: SignedCall,
  { value }: AskedDeposit,
  balance: bigint,
): Refusal | undefined {
  const { leastDeposit } = terms.channel
  if (value < leastDeposit) return refusedBy(asked, 'deposit_below_min_deposit')
  return payload.maxClaimable > balance + value
    ? refusedBy(asked, 'cumulative_exceeds_balance')
    : undefined
}

/** Builds the EIP-3009 payment whose signature the client sent. */
function paymentOf(
  { terms, named }: SignedCall,
  { value, validAfter, validBefore, salt, signature }: AskedDeposit,
): SignedPayment {
  return {
    primaryType: 'ReceiveWithAuthorization',
    domain: terms.token.domain,
    message: {
      from: named.config.payer,
      to: depositCollector,
      value,
      validAfter,
      validBefore,
      nonce: depositNonce(named.id, salt),
    },
    signature,
  }
}

/**
 * Checks that the token would take the payment, before it is on record and costs
 * gas. Returns the code that refuses it, or `undefined`.
 */
async function refusePayment(
  { gate, terms }: SignedCall,
  payment: SignedPayment,
): Promise<CodeName | undefined> {
  const { offer, token } = terms
  const { policy, now } = gate.context
  if (payment.message.validBefore > now() / 1000n + policy.maxWindow)
    return 'payload_authorization_valid_before'
  const verdict = await verifyPayment(offer.client, {
    payment,
    expect: {
      token: offer.token,
      to: depositCollector,
      amount: formatAmount(payment.message.value, token.decimals),
      chainId: offer.chainId,
      from: payment.message.from,
      minRemaining: policy.safetyMargin,
    },
    now: now() / 1000n,
  })
  return verdict.ok
    ? undefined
    : (depositCodes[verdict.reason] ?? 'deposit_simulation_failed')
}

export const depositCodes: Readonly<Partial<Record<string, CodeName>>> = {
  malformedSignature: 'receive_authorization_signature',
  wrongSigner: 'receive_authorization_signature',
  wrongPayer: 'receive_authorization_signature',
  walletNotDeployed: 'receive_authorization_signature',
  walletRejects: 'receive_authorization_signature',
  unsimulatedWallet: 'receive_authorization_signature',
  notYetValid: 'payload_authorization_valid_after',
  expired: 'payload_authorization_valid_before',
  expiresTooSoon: 'payload_authorization_valid_before',
  insufficientFunds: 'insufficient_balance',
}

/** The answer to a deposit that is not credited. */
function explain(
  { asked }: SignedCall,
  reason: Extract<DepositVerdict, { ok: false }>['reason'],
): Refusal {
  return reason === 'rejected'
    ? refusedBy(asked, 'deposit_transaction_failed')
    : busy
}
