import type { Hash } from 'viem'
import { wait } from '../../core/wait.js'
import {
  isPaidBack,
  loadOrder,
  type StoredOrder,
  waitForCapture,
} from '../../orders/engine.js'
import type { CaptureResult } from '../../orders/index.js'
import type { OrderRecord, SealContext } from '../../store/types.js'
import { changeExchange, loadExchange } from './exchanges.js'
import { jsonResponse } from './keptResponse.js'
import type { Liveness } from './liveness.js'
import { passOn } from './passOn.js'
import { requestCapture } from './requestCapture.js'
import { runHandler } from './runHandler.js'
import { openAnswer, sealAnswer } from './sealAnswer.js'
import { findUnstored, storeEnd } from './storeEnd.js'
import type {
  ExchangeNote,
  Finished,
  GateContext,
  KeptResponse,
  Outcome,
  SettledOffer,
  Terms,
  WorkEnd,
  X402Handler,
  X402Payment,
} from './types.js'

/** A paid request to answer. */
export type PaidCall = {
  orderId: string
  terms: Terms
  request: Request
  /** This request, and those that joined it. */
  waiting: Request[]
  handler: X402Handler
  /** True to pass a good answer on instead of keeping it. */
  isStream: boolean
  payment: Omit<X402Payment, 'transaction'>
  /** What the kept answer is sealed for. */
  place: SealContext
}

/** An exchange to continue. */
export type BegunExchange = {
  note: ExchangeNote
  /** True when this process has just begun it. */
  isOurs: boolean
  /** The order as this process has just written it. */
  stored?: StoredOrder | undefined
}

/** Milliseconds between two polls of another process's exchange. */
const lookEvery = 200

type Tools = { gate: GateContext; liveness: Liveness; call: PaidCall }

/**
 * Continues an exchange from its saved step to its outcome. Claims each step by
 * compare-and-set first, so the handler runs in one process only.
 */
export async function runExchange(
  tools: Tools,
  begun: BegunExchange,
): Promise<Outcome> {
  const end = performance.now() + tools.gate.timeout
  let next: BegunExchange | undefined = begun
  while (next) {
    const outcome = await takeStep(tools, next, end)
    if (outcome) return outcome
    const note = await reload(tools)
    next = note && { note, isOurs: false }
  }
  return { kind: 'gone' }
}

/**
 * Does one step. Returns the outcome, or `undefined` to load the exchange
 * again.
 */
async function takeStep(
  tools: Tools,
  { note, isOurs, stored }: BegunExchange,
  end: number,
): Promise<Outcome | undefined> {
  const { step } = note.data
  const { gate, call } = tools
  const { flow } = call.terms.offer
  if (step === 'over') return endOver(tools, note)
  const isStreamed = step === 'working' && gate.streams.has(call.orderId)
  if (step === 'done' || isStreamed) {
    const paid = await capture(tools)
    return paid.kind === 'paid'
      ? { ...paid, response: await open(tools, note) }
      : paid
  }
  if (step === 'working' && !isOurs) return takeOver(tools, note, end)
  if (flow === 'authorization' && isOurs) return work(tools, note, { stored })

  const paid = await captureFirst(tools, stored?.order)
  if (paid && paid.kind !== 'paid') return paid
  // Nobody is left to get the stream, which is not kept.
  if (paid && call.isStream && hasLeft(call))
    return { kind: 'pending', transaction: paid.transaction }
  const claimed = await claim(tools, note)
  return claimed && work(tools, claimed, { transaction: paid?.transaction })
}

/** True when no client waits any more. */
const hasLeft = ({ waiting }: PaidCall): boolean =>
  waiting.every(({ signal }) => signal.aborted)

const claim = ({ gate }: Tools, note: ExchangeNote) =>
  changeExchange(gate, note, { step: 'working', owner: gate.owner })

/**
 * Another process started the handler. Waits for it, or takes over if that
 * process died.
 */
async function takeOver(
  tools: Tools,
  note: ExchangeNote,
  end: number,
): Promise<Outcome | undefined> {
  const { gate, liveness, call } = tools
  const unstored = findUnstored(gate, note)
  if (unstored) return storeWork(tools, unstored)
  if (await liveness.isAlive(note.data.owner)) {
    if (performance.now() > end)
      return { kind: 'pending', transaction: undefined }
    await wait(lookEvery)
    return undefined
  }
  if (!call.terms.offer.repeatable) {
    // We do not know whether the work was done, so do not repeat it.
    return giveUp(tools, note, {
      reason: 'interrupted',
      response: jsonResponse(500, { error: 'interrupted' }),
    })
  }
  const claimed = await changeExchange(gate, note, { owner: gate.owner })
  if (!claimed) return undefined
  const paid = await captureFirst(tools)
  return paid && paid.kind !== 'paid'
    ? paid
    : work(tools, claimed, { transaction: paid?.transaction })
}

/**
 * Captures before the work, if the flow is `upfront`. Refuses an order that
 * waits for the merchant's review, or has a refund, without work.
 *
 * @param begun the order, if this process has just written it.
 */
async function captureFirst(
  tools: Tools,
  begun?: OrderRecord,
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  const isUpfront = call.terms.offer.flow === 'upfront'
  if (isUpfront && begun) return capture(tools, begun)
  const found = await gate.context.store.read((tables) =>
    loadOrder(tables, gate.context, call.orderId),
  )
  if (isPaidBack(found)) return { kind: 'gone' }
  return isUpfront || found.order.needsReview ? capture(tools) : undefined
}

/** Runs the handler, and stores how it ended. */
async function work(
  tools: Tools,
  note: ExchangeNote,
  { transaction, stored }: Pick<WorkEnd, 'transaction' | 'stored'>,
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  const finished = await runHandler(gate, {
    request: call.request,
    handler: call.handler,
    payment: { ...call.payment, transaction },
    isStream: call.isStream,
  })
  if (finished.kind === 'live') return stream(tools, note, finished)
  const outcome = await storeWork(tools, {
    note,
    finished,
    transaction,
    stored,
  })
  const signal = finished.kind === 'failed' ? finished.signal : undefined
  // The work is on record as failed.
  return signal && ['failed', 'gone'].includes(outcome?.kind ?? '')
    ? { kind: 'signal', signal }
    : outcome
}

/**
 * Hands out a stream. Its exchange is done only when the stream has ended: if
 * this process dies before, the client was not served, and a refund is due.
 */
function stream(
  tools: Tools,
  note: ExchangeNote,
  { response, transaction }: Extract<Finished, { kind: 'live' }>,
): Outcome {
  const { gate, call } = tools
  const { orderId } = call
  gate.streams.add(orderId)
  const end = async (): Promise<void> => {
    const finished = { kind: 'passedOn' } as const
    try {
      await gate.instance.hold(
        storeWork(tools, { note, finished, transaction }),
      )
    } catch {
      // If storing fails, the next identical request stores the end.
    } finally {
      gate.streams.delete(orderId)
    }
  }
  return {
    kind: 'paid',
    response: undefined,
    stream: (client) => passOn(response, client, end),
    transaction,
  }
}

/** Stores how the work ended, then captures. */
function storeWork(tools: Tools, work: WorkEnd): Promise<Outcome | undefined> {
  return storeEnd(tools.gate, work, () => tryStore(tools, work))
}

/**
 * Safe to repeat: the exchange moves on by compare-and-set, and a capture that
 * was requested before is only waited for.
 */
async function tryStore(
  tools: Tools,
  { note, finished, transaction, stored }: WorkEnd,
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  if (finished.kind === 'passedOn') {
    await changeExchange(gate, note, { step: 'done' })
    return undefined
  }
  const { kind, response } = finished
  if (kind === 'failed') return fail(tools, note, { response, transaction })
  const done = await gate.keepAnswer({
    note,
    answer: await sealAnswer(gate, response, call.place),
    orderId: call.orderId,
    captures: transaction === undefined,
    stored,
    early: call.terms.offer.early,
  })
  if (!done) return undefined
  const paid: Outcome = transaction
    ? { kind: 'paid', response: undefined, transaction }
    : await capture(tools, done.order)
  return paid.kind === 'paid' ? { ...paid, response } : paid
}

type Failure = { response: KeptResponse; transaction: Hash | undefined }

async function fail(
  tools: Tools,
  note: ExchangeNote,
  { response, transaction }: Failure,
): Promise<Outcome | undefined> {
  if (tools.call.terms.offer.afterFailure === 'giveUp')
    return giveUp(tools, note, { reason: 'workFailed', response })
  const kept = await changeExchange(tools.gate, note, { step: 'failed' })
  return kept && { kind: 'failed', response, transaction }
}

/** Ends an exchange without a paid answer. */
async function giveUp(
  tools: Tools,
  note: ExchangeNote,
  { reason, response }: { reason: string; response: KeptResponse },
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  const { orderId, terms } = call
  const isUpfront = terms.offer.flow === 'upfront'
  const { payer } = call.payment
  // Only what a block shows can be refunded.
  const paid = isUpfront && terms.offer.early && (await captureInBlock(tools))
  if (paid && paid.kind !== 'paid') return paid
  const answer = await sealAnswer(gate, response, call.place)
  const over = await changeExchange(
    gate,
    note,
    { step: 'over', answer },
    { givenUp: { orderId, payer, reason, isUpfront } },
  )
  return over && endOver(tools, over)
}

async function endOver(tools: Tools, note: ExchangeNote): Promise<Outcome> {
  const { gate, call } = tools
  const { orderId, terms } = call
  const { state } = await gate.orders.get({ orderId })
  const isPaid = terms.offer.flow === 'upfront' || state === 'captured'
  // An exchange that is over without an answer ended before its work.
  if (isPaid && note.data.answer !== undefined) {
    const paid = await capture(tools)
    if (paid.kind !== 'paid') return paid
    const response = await open(tools, note)
    if (!response) return paid
    return { kind: 'failed', response, transaction: paid.transaction }
  }
  if (state === 'stored') await gate.orders.void({ orderId })
  return { kind: 'gone' }
}

/**
 * Captures the payment.
 *
 * @param asked the order as this process wrote it with the request to capture
 * it; without one, the capture is requested.
 * @param early limits of an answer at `preconfirmed`, if the offer has them.
 */
async function capture(
  tools: Tools,
  asked?: OrderRecord,
  { early }: Pick<SettledOffer, 'early'> = tools.call.terms.offer,
): Promise<Outcome> {
  const { gate, call } = tools
  const { orderId } = call
  const { timeout, instance, context } = gate
  const { hold, drive, perform } = instance
  const result = await perform('capture', { orderId }, async () => {
    const order =
      asked?.requested === 'capture'
        ? asked
        : await requestCapture(context, orderId, early)
    const answerAt = early && 'preconfirmed'
    return hold(waitForCapture(context, drive(), order, { timeout, answerAt }))
  })
  if (result.status === 'rejected') return refuse(tools, result)
  // The capture came after the order was given up: a refund is due.
  if (result.status === 'captured' && result.order.unexpected)
    return { kind: 'gone' }
  if (result.status === 'captured')
    return {
      kind: 'paid',
      response: undefined,
      transaction: result.proof.transactionHash,
    }
  if (result.status === 'preconfirmed')
    return {
      kind: 'paid',
      response: undefined,
      transaction: result.transactionHash,
    }
  const sent = await context.store.read(({ transactions }) =>
    transactions.find({ orderIds: [orderId] }),
  )
  const transaction = sent.flatMap(({ hash }) => hash ?? []).at(-1)
  return { kind: 'pending', transaction }
}

/** Waits until a block has the capture, also where the answer does not. */
const captureInBlock = (tools: Tools): Promise<Outcome> =>
  capture(tools, undefined, { early: undefined })

/** Reasons of the merchant's own side: the payment is still good. */
const ownReasons: readonly string[] = [
  'feeTooHigh',
  'signingDeclined',
  'walletRefused',
]

/**
 * Refuses a payment whose capture was rejected. Voids its order first, because
 * the client may pay again: nothing more may be sent for this payment.
 */
async function refuse(
  { gate, call }: Tools,
  { reason, order }: Extract<CaptureResult, { status: 'rejected' }>,
): Promise<Outcome> {
  const pending: Outcome = { kind: 'pending', transaction: undefined }
  if (order.state !== 'stored') return { kind: 'refused', reason }
  if (ownReasons.includes(reason)) return pending
  const { orderId } = call
  const { ok } = await gate.orders.void({ orderId })
  // If the void failed, the order was sent again or settled in between.
  return ok ? { kind: 'refused', reason } : pending
}

function open(
  { gate, call }: Tools,
  { data }: ExchangeNote,
): Promise<KeptResponse | undefined> {
  return openAnswer(gate, data.answer, call.place)
}

function reload({ gate, call }: Tools): Promise<ExchangeNote | undefined> {
  return gate.context.store.read((tables) => loadExchange(tables, call.orderId))
}
