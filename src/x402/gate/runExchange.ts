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
  /**
   * This request, and those with the same payment that came while it was worked
   * on.
   */
  waiting: Request[]
  handler: X402Handler
  /** True to send a good answer on as it comes, instead of storing it. */
  isStream: boolean
  payment: Omit<X402Payment, 'transaction'>
  /** Binds the sealed answer to its order: it opens for no other. */
  place: SealContext
}

/** Paid work to continue, from its record in the store. */
export type BegunExchange = {
  note: ExchangeNote
  /** True when this process has just created the record. */
  isOurs: boolean
  /** The order, if this process has just written it: saves loading it. */
  stored?: StoredOrder | undefined
}

/**
 * Milliseconds until the record is loaded again while another process works.
 */
const lookEvery = 200

type Tools = { gate: GateContext; liveness: Liveness; call: PaidCall }

/**
 * Works for a payment from the step that is on record to the outcome. Changes
 * the record by compare-and-set before each step, so the handler runs in one
 * process only.
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
 * Does one step. Returns the outcome, or `undefined` if the record has changed
 * and must be loaded again.
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
  // All clients have left, and a stream is not stored: the paid answer would be
  // lost. The next request with this payment runs the handler.
  if (paid && call.isStream && hasLeft(call))
    return { kind: 'pending', transaction: paid.transaction }
  const claimed = await claim(tools, note)
  return claimed && work(tools, claimed, { transaction: paid?.transaction })
}

/** True when every client that waited has disconnected. */
const hasLeft = ({ waiting }: PaidCall): boolean =>
  waiting.every(({ signal }) => signal.aborted)

const claim = ({ gate }: Tools, note: ExchangeNote) =>
  changeExchange(gate, note, { step: 'working', owner: gate.owner })

/**
 * Another run has started the handler. Stores its end if this process still has
 * it, waits while the other process is alive, and takes over if it has died.
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
    // Nobody knows whether the handler had finished. Running it again could do
    // the work twice.
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
 * Captures before the work if the flow is `upfront`. An order that is under
 * review or refunded ends here, and no work is done.
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
  // The failure is stored. Let the framework answer with what the handler
  // threw.
  return signal && ['failed', 'gone'].includes(outcome?.kind ?? '')
    ? { kind: 'signal', signal }
    : outcome
}

/**
 * Hands out a stream. The record says `done` only once the stream has ended: if
 * this process dies before that, the client did not get all it paid for, and a
 * refund is due.
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
      // If storing fails, the next request with the same payment stores the
      // end.
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

/** Stores how the handler ended, then captures the payment. */
function storeWork(tools: Tools, work: WorkEnd): Promise<Outcome | undefined> {
  return storeEnd(tools.gate, work, () => tryStore(tools, work))
}

/**
 * Tries once to store the end and to capture. Safe to repeat: the record
 * changes by compare-and-set, and a capture that is already requested is only
 * waited for.
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

/** Ends the work for a payment for good, and voids or refunds its order. */
async function giveUp(
  tools: Tools,
  note: ExchangeNote,
  { reason, response }: { reason: string; response: KeptResponse },
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  const { orderId, terms } = call
  const isUpfront = terms.offer.flow === 'upfront'
  const { payer } = call.payment
  // With `upfront`, the answer may have come at `preconfirmed`. Waits for the
  // block, because only a capture that a block shows can be refunded.
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
  // Only `giveUp` stores an answer. Without one, the order was under review or
  // abandoned.
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
 * Captures the payment, and waits for it.
 *
 * @param asked the order, if this process has just written it with a request to
 * capture it. Otherwise this function requests the capture.
 * @param early limits for an answer at `preconfirmed`, by default the offer's.
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
  // `unexpected`: the order was voided before its capture came. The money is
  // due back to the payer, so it buys nothing.
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

/**
 * Captures and waits for a block, also if the offer answers at `preconfirmed`.
 */
const captureInBlock = (tools: Tools): Promise<Outcome> =>
  capture(tools, undefined, { early: undefined })

/**
 * Reasons on the merchant's side. The payment is good, and a later try can
 * capture it.
 */
const ownReasons: readonly string[] = [
  'feeTooHigh',
  'signingDeclined',
  'walletRefused',
]

/**
 * Refuses a payment whose capture was rejected. Voids its order first: the
 * client may now pay again, and a later capture of this payment would charge it
 * twice.
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
  // If the void was refused, another process sent or settled the order
  // meanwhile.
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
