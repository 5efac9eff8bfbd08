import type { Address, Client, Hash } from 'viem'
import { getToken } from '../../chain/state/getToken.js'
import { endOnAbort } from '../../core/onAbort.js'
import {
  abandonOrder,
  acceptUndrafted,
  type EarlyLimits,
  type OrdersContext,
  waitForCapture,
} from '../../orders/engine.js'
import type { SettledCapture } from '../../orders/index.js'
import type { OrderRecord } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { errorCodeOf, type X402ErrorCode } from '../wire/errorCodes.js'
import { orderIdOf } from '../wire/orderIdOf.js'
import type { FacilitatorContext, SettledCaller } from './facilitatorContext.js'
import { type KeptGas, reserveCallerGas, settleGas } from './gasBudget.js'
import { judgeCall } from './judgeCall.js'
import {
  isOwnedBy,
  keptGasOf,
  loadOwned,
  markAnswered,
  type OwnedPayment,
  ownerOf,
} from './ownedPayment.js'
import type { FacilitatorCall } from './parseCall.js'
import { type HeldSettle, takeSettle } from './settleLease.js'

/** The outcome of a settlement, with an error code of x402. */
export type SettleOutcome =
  | { ok: true; hash: Hash }
  | {
      ok: false
      code: X402ErrorCode
      hash?: Hash | undefined
      words?: string | undefined
    }

export type SettleParameters = {
  call: FacilitatorCall
  caller: SettledCaller
  client: Client
  /** Aborts when the client has disconnected. */
  signal: AbortSignal
}

const used: X402ErrorCode = 'invalid_exact_evm_nonce_already_used'
const pending: X402ErrorCode = 'settlement_pending'
const failed: X402ErrorCode = 'unexpected_settle_error'

/**
 * Captures a payment and returns success to one call only. If two calls got a
 * success, a server that does not verify payments would deliver twice for one
 * payment.
 *
 * Calls for the same payment run one at a time. A later call waits, and then
 * sees whether an earlier one returned a success.
 */
export async function settlePayment(
  facilitator: FacilitatorContext,
  parameters: SettleParameters,
): Promise<SettleOutcome> {
  const orderId = orderIdOf(parameters.call.payment)
  const until = performance.now() + facilitator.timeout
  const held = await takeSettle(facilitator.context, orderId, {
    until,
    signal: parameters.signal,
  })
  if (!held) return explainUnsettled(facilitator, orderId, used)
  try {
    const alone = { ...parameters, orderId, until, held }
    return await held.kept.during(() => settleAlone(facilitator, alone))
  } catch (error) {
    // `settlement_pending` tells the client to wait: after any other code it
    // may sign and pay a second time.
    const outcome = await explainUnsettled(facilitator, orderId, failed)
    if (outcome.code === pending) return outcome
    throw error
  } finally {
    await held.kept.release()
  }
}

type Alone = SettleParameters & {
  orderId: string
  until: number
  held: HeldSettle
}

async function settleAlone(
  facilitator: FacilitatorContext,
  alone: Alone,
): Promise<SettleOutcome> {
  const { call, caller, orderId } = alone
  const owned = await loadOwned(facilitator.context, orderId)
  if (owned) {
    const refusal = refuseOwned(facilitator, owned, { caller, call })
    if (refusal) return refusal
    return capture(facilitator, alone)
  }
  const kept = await reserveCallerGas(facilitator.context, caller)
  if (!kept) return { ok: false, code: 'gas_budget_exceeded' }
  const taken = await takePayment(facilitator, alone, kept).catch(
    async (error) => {
      await giveBack(facilitator.context, caller, kept)
      throw error
    },
  )
  if (taken !== 'held' && 'order' in taken)
    return capture(facilitator, alone, taken.order)
  if (taken !== 'held') {
    await giveBack(facilitator.context, caller, kept)
    return taken
  }
  // An earlier capture of this payer failed on chain, so the merchant must
  // first review this order. No client waits that long, so the order is voided.
  return giveUp(facilitator, alone, errorCodeOf('simulationFailed'))
}

function giveBack(
  context: OrdersContext,
  caller: SettledCaller,
  kept: KeptGas,
): Promise<void> {
  return writeAgain(context, (tables) =>
    settleGas(tables, caller, { kept, used: 0n }),
  )
}

/**
 * Returns the refusal if an earlier call brought this payment and this call may
 * not settle it.
 */
export function refuseOwned(
  { context }: Pick<FacilitatorContext, 'context'>,
  owned: OwnedPayment,
  { caller, call }: Pick<SettleParameters, 'caller' | 'call'>,
): Extract<SettleOutcome, { ok: false }> | undefined {
  const { order, proofs } = owned.found
  const hash = order.state === 'captured' ? order.settledHash : undefined
  // `unexpected` means: the capture came after `/settle` had reported a
  // failure. The money must be refunded to the payer, so it buys nothing.
  if (!isOwnedBy(owned, caller, call) || order.unexpected)
    return { ok: false, code: used, hash }
  if (hash !== undefined) {
    const proof = proofs.find((one) => one.transactionHash === hash)
    const isOurs = isSentByUs(context, proof?.submitter)
    return caller.deduplicates || (isOurs && !owned.answered)
      ? undefined
      : { ok: false, code: used, hash }
  }
  if (owned.answered && !caller.deduplicates) return { ok: false, code: used }
  const isOpen = order.state === 'stored' || order.state === 'capturing'
  return isOpen && !order.needsReview
    ? undefined
    : { ok: false, code: closedCode(order.state) }
}

/**
 * True if one of the shop's wallets sent the capture. Anyone can submit a
 * `TransferWithAuthorization` payment. If another facilitator submitted it,
 * that one has already returned a success.
 */
function isSentByUs(
  { wallets }: Pick<OrdersContext, 'wallets'>,
  account: Address | undefined,
): boolean {
  return wallets.some(({ submitter }) => submitter.account === account)
}

function closedCode(state: string): X402ErrorCode {
  if (state === 'expired')
    return 'invalid_exact_evm_payload_authorization_valid_before'
  return state === 'canceled' || state === 'consumed'
    ? used
    : 'invalid_transaction_state'
}

/**
 * Creates an order from the payment. Returns the refusal if the payment is not
 * accepted, and `held` if the merchant must first review the order.
 */
async function takePayment(
  facilitator: FacilitatorContext,
  { call, caller, client, orderId }: Alone,
  kept: KeptGas,
): Promise<{ order: OrderRecord } | 'held' | SettleOutcome> {
  const { context, contractPayers } = facilitator
  const { payment, recipient, value } = call
  const asset = payment.domain.verifyingContract
  const token = await getToken(client, { token: asset })
  const { name, version } = token.domain
  const isNamed =
    name === payment.domain.name && version === payment.domain.version
  const policy = { ...context.policy, contractPayers }
  const verdict = isNamed
    ? await acceptUndrafted(
        { ...context, policy },
        {
          orderId,
          payment,
          token,
          recipient,
          value,
          metadata: ownerOf(caller, call, kept),
          capture: 'now',
          early: earlyOf(facilitator, { call, caller }),
          meanwhile: async ({ chainId, submitter: account }) =>
            facilitator.instance.drive().prepare({ chainId, account }),
        },
      )
    : undefined
  if (verdict?.ok)
    return verdict.order.needsReview ? 'held' : { order: verdict.stored.order }
  // The order was refused by other checks than those of `/verify`. Runs the
  // checks of `/verify` too, so that both calls return the same error code.
  const judged = await judgeCall(facilitator, call, client)
  if (!judged.ok) return judged
  return { ok: false, code: errorCodeOf(verdict?.reason ?? 'wrongDomain') }
}

/**
 * Waits for the capture, and returns its outcome.
 *
 * @param asked the order, if this call has just stored it together with a
 * request to capture it. If absent, this function requests the capture.
 */
async function capture(
  facilitator: FacilitatorContext,
  alone: Alone,
  asked?: OrderRecord,
): Promise<SettleOutcome> {
  const { context, instance } = facilitator
  const { hold, drive, perform } = instance
  const { orderId, until, held, signal } = alone
  const early = earlyOf(facilitator, alone)
  const answerAt = early && 'preconfirmed'
  const timeout = Math.max(0, Math.ceil(until - performance.now()))
  const capturing = perform('capture', { orderId }, async () => {
    const order = asked ?? (await drive().requestCapture(orderId, early))
    return hold(waitForCapture(context, drive(), order, { timeout, answerAt }))
  })
  const result = await endOnAbort(capturing, signal).catch((error: unknown) => {
    if (!signal.aborted) throw error
    return undefined
  })
  if (result?.status === 'captured')
    return answer(facilitator, alone, result.proof)
  if (result?.status === 'preconfirmed')
    return answer(facilitator, alone, {
      transactionHash: result.transactionHash,
    })
  // The client has disconnected, or another call now has the lease. Does not
  // void the order, so that a worker can finish the capture.
  if (signal.aborted || !held.kept.holds(held.lease))
    return explainUnsettled(facilitator, orderId, failed)
  const code =
    result?.status === 'rejected' ? errorCodeOf(result.reason) : failed
  return giveUp(facilitator, alone, code)
}

/**
 * Returns the limits for an answer to a pre-confirmed capture. Returns
 * `undefined` if the answer must wait until a block has the capture.
 */
function earlyOf(
  { preconfirmedUpTo: upTo }: Pick<FacilitatorContext, 'preconfirmedUpTo'>,
  { call, caller }: Pick<SettleParameters, 'call' | 'caller'>,
): EarlyLimits | undefined {
  if (!call.isEarly || upTo === undefined) return undefined
  const { name, mostAtRisk: most } = caller
  return { upTo, name: `facilitator:${name}`, most }
}

/**
 * Returns the success, unless an earlier call returned it or the client has
 * disconnected.
 */
async function answer(
  { context }: FacilitatorContext,
  { orderId, held, caller, signal }: Alone,
  {
    transactionHash: hash,
    submitter,
    gasUsed,
  }: Pick<SettledCapture, 'transactionHash'> & Partial<SettledCapture>,
): Promise<SettleOutcome> {
  // The client has disconnected and would not get the success. It is not
  // recorded as returned, so the next call gets it.
  if (signal.aborted) return { ok: false, code: failed, hash }
  // Without `gasUsed`, the capture is only pre-confirmed. Only this shop's own
  // transactions are looked for before a block has them, so it is ours.
  const isOurs = gasUsed === undefined || isSentByUs(context, submitter)
  const isFirst = await markAnswered(context, orderId, {
    lease: held.lease,
    settle: async (tables, kept) => {
      // In two cases the gas stays reserved in full: before a block shows how
      // much was used, and if someone else captured, because our own
      // transaction may have failed and used gas.
      if (isOurs && gasUsed !== undefined)
        await settleGas(tables, caller, { kept, used: gasUsed })
    },
  })
  return caller.deduplicates || (isFirst && isOurs)
    ? { ok: true, hash }
    : { ok: false, code: used, hash }
}

/**
 * Reports a failed settlement. First voids the order, so that no worker sends a
 * capture for it later. A transaction that is already sent can still be mined.
 */
async function giveUp(
  facilitator: FacilitatorContext,
  { orderId, caller }: Alone,
  code: X402ErrorCode,
): Promise<Extract<SettleOutcome, { ok: false }>> {
  const outcome = await explainUnsettled(facilitator, orderId, code)
  if (outcome.code === pending) return outcome
  const verdict = await abandonOrder(facilitator.context, orderId)
  // The order could not be voided, because another process sent or settled it
  // meanwhile.
  if (!verdict.ok) return explainUnsettled(facilitator, orderId, code)
  if (outcome.hash === undefined)
    await giveBack(facilitator.context, caller, keptGasOf(verdict.order))
  return outcome
}

/**
 * Builds the answer for a call that got no outcome. It is `settlement_pending`
 * if the order is being captured or is captured, and otherwise the given code.
 */
async function explainUnsettled(
  { context }: Pick<FacilitatorContext, 'context'>,
  orderId: string,
  otherwise: X402ErrorCode,
): Promise<Extract<SettleOutcome, { ok: false }>> {
  const { order, hash } = await context.store.read(async (tables) => {
    const [order] = await tables.orders.find({ ids: [orderId] })
    const sent = await tables.transactions.find({ orderIds: [orderId] })
    const hashes = sent.flatMap(({ hash }) => (hash ? [hash] : []))
    return { order, hash: order?.settledHash ?? hashes.at(-1) }
  })
  const isOpen = order?.state === 'capturing' || order?.state === 'captured'
  return { ok: false, code: isOpen ? pending : otherwise, hash }
}
