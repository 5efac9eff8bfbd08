import type { Hash } from 'viem'
import { wait } from '../../core/wait.js'
import {
  abandonOrder,
  endWork,
  isPaidBack,
  loadOrder,
  type StoredOrder,
  waitForCapture,
} from '../../orders/engine.js'
import type { CaptureResult } from '../../orders/index.js'
import type { OrderRecord, SealContext } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { changeExchange, loadExchange } from './exchanges.js'
import { keepError } from './keptResponse.js'
import type { Liveness } from './liveness.js'
import { passOn } from './passOn.js'
import { requestCapture } from './requestCapture.js'
import { runHandler } from './runHandler.js'
import { openAnswer, sealAnswer } from './sealAnswer.js'
import { findUnstored, storeEnd } from './storeEnd.js'
import type {
  ExchangeNote,
  GateContext,
  KeptResponse,
  Outcome,
  SettledOffer,
  Terms,
  WorkEnd,
  X402Handler,
  X402Payment,
} from './types.js'

/** A paid request, and what is needed to answer it. */
export type PaidCall = {
  orderId: string
  terms: Terms
  request: Request
  /**
   * This request, and later ones with the same payment, which wait for its
   * outcome.
   */
  waiting: Request[]
  handler: X402Handler
  /**
   * True to send a successful answer to the client in parts as they come,
   * instead of storing it.
   */
  isStream: boolean
  payment: Omit<X402Payment, 'transaction'>
  /**
   * Context that binds the encrypted answer to its order: it cannot be
   * decrypted for another one.
   */
  place: SealContext
}

/** A payment whose processing continues from the step in its stored record. */
export type BegunExchange = {
  note: ExchangeNote
  /** True when this process has just created the record. */
  isOurs: boolean
  /** The order, if this process has just stored it, which saves loading it. */
  stored?: StoredOrder | undefined
}

/**
 * Milliseconds until the record is loaded again while another process handles
 * the payment.
 */
const lookEvery = 200

type Tools = { gate: GateContext; liveness: Liveness; call: PaidCall }

/**
 * Processes a payment from the step in its record to the outcome. Before each
 * step it changes the record, and only one process succeeds in that, so the
 * handler runs in one process only.
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
 * Does one step of the processing. Returns the outcome, or `undefined` if
 * another step must follow and the record must be loaded again.
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
  // All clients have disconnected. A stream is not stored, so its paid answer
  // would be lost. The handler runs when the next request with this payment
  // comes.
  if (paid && call.isStream && hasLeft(call))
    return { kind: 'pending', transaction: paid.transaction }
  const claimed = await claim(tools, note)
  return claimed && work(tools, claimed, paid ?? {})
}

/** True when every client that waited has disconnected. */
const hasLeft = ({ waiting }: PaidCall): boolean =>
  waiting.every(({ signal }) => signal.aborted)

/** Claims a payment for the handler of this gate. */
async function claim(
  { gate }: Tools,
  note: ExchangeNote,
): Promise<ExchangeNote | undefined> {
  const { owner, unsure } = gate
  unsure.add(note.key)
  const claimed = await changeExchange(gate, note, { step: 'working', owner })
  unsure.delete(note.key)
  return claimed
}

/**
 * Continues after another run has started the handler. If this process still
 * has the handler's result in memory, stores it. Otherwise waits while the
 * other process is alive, and takes over if it has died.
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
  // This gate claimed the payment, and never started the handler.
  const neverRan = note.data.owner === gate.owner && gate.unsure.has(note.key)
  if (!call.terms.offer.repeatable && !neverRan) {
    // Nobody knows whether the handler had finished. If it ran again, its work
    // could be done twice.
    return giveUp(tools, note, {
      reason: 'interrupted',
      response: keepError(500, 'interrupted'),
    })
  }
  const claimed = await claim(tools, note)
  if (!claimed) return undefined
  const paid = await captureFirst(tools)
  return paid && paid.kind !== 'paid' ? paid : work(tools, claimed, paid ?? {})
}

/**
 * If the flow is `upfront`, captures the payment before the handler runs. If
 * the order is refunded or under review by the merchant, the processing ends
 * here without the handler.
 *
 * @param begun the order, if this process has just stored it.
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
  {
    transaction,
    isEarly,
    stored,
  }: Pick<WorkEnd, 'transaction' | 'isEarly' | 'stored'>,
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  const finished = await runHandler(gate, {
    request: call.request,
    handler: call.handler,
    payment: { ...call.payment, transaction },
    // Only a payment that was captured before can pay for a stream.
    isStream: call.isStream && transaction !== undefined,
  })
  if (finished.kind === 'live') {
    if (!transaction) throw new Error('A stream was not paid for.')
    // A stream begins even if this fails: the payment is captured, and this
    // process may hold the only answer.
    if (isEarly) await tellWorked(tools, true).catch(() => undefined)
    return stream(tools, note, { response: finished.response, transaction })
  }
  const outcome = await storeWork(tools, {
    note,
    finished,
    transaction,
    isEarly,
    stored,
  })
  const signal = finished.kind === 'failed' ? finished.signal : undefined
  // The failure is stored, so the value that the handler threw can go to its
  // framework, which answers the request.
  return signal && ['failed', 'gone'].includes(outcome?.kind ?? '')
    ? { kind: 'signal', signal }
    : outcome
}

/**
 * Sends a stream to the client. The record says `done` only after the stream
 * has ended. If this process dies before that, the client did not get
 * everything it paid for, and a refund is due.
 */
function stream(
  tools: Tools,
  note: ExchangeNote,
  { response, transaction }: { response: Response; transaction: Hash },
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
      // If storing fails, the next request with the same payment stores that
      // the stream has ended.
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

/** Stores the handler's result, then captures the payment. */
function storeWork(tools: Tools, work: WorkEnd): Promise<Outcome | undefined> {
  return storeEnd(tools.gate, work, () => tryStore(tools, work))
}

/**
 * Tries once to store the handler's result and to capture the payment. Safe to
 * repeat: the record is written only if no other process changed it, and a
 * capture that is already requested is only waited for.
 */
async function tryStore(
  tools: Tools,
  { note, finished, transaction, isEarly = false, stored }: WorkEnd,
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
    isEarly,
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
  await tellWorked(tools, false)
  const kept = await changeExchange(tools.gate, note, { step: 'failed' })
  return kept && { kind: 'failed', response, transaction }
}

/**
 * Ends the processing of a payment without an answer to sell, and voids or
 * refunds its order.
 */
async function giveUp(
  tools: Tools,
  note: ExchangeNote,
  { reason, response }: { reason: string; response: KeptResponse },
): Promise<Outcome | undefined> {
  const { gate, call } = tools
  const { orderId, terms } = call
  const isUpfront = terms.offer.flow === 'upfront'
  const { payer } = call.payment
  await tellWorked(tools, false)
  // With `upfront`, the handler may have started when the capture was only
  // pre-confirmed. Waits until a block has it, because only then can it be
  // refunded.
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
  // Here an answer is stored only by `giveUp`. Without one, the order was under
  // the merchant's review, or its client never came back.
  if (isPaid && note.data.answer !== undefined) {
    const paid = await capture(tools)
    if (paid.kind !== 'paid') return paid
    const response = await open(tools, note)
    if (!response) return paid
    return { kind: 'failed', response, transaction: paid.transaction }
  }
  if (state === 'stored') await abandonOrder(gate.context, orderId)
  return { kind: 'gone' }
}

/**
 * Captures the payment, and waits for the capture.
 *
 * @param asked the order, if this process has just stored it together with a
 * request to capture it. If absent, this function requests the capture. @param
 * early limits for an answer before a block has the capture, by default the
 * offer's.
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
  // `unexpected` means: the order was voided before its capture came. The money
  // must be refunded to the payer, so it buys nothing.
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
      isEarly: true,
    }
  const sent = await context.store.read(({ transactions }) =>
    transactions.find({ orderIds: [orderId] }),
  )
  const transaction = sent.flatMap(({ hash }) => hash ?? []).at(-1)
  return { kind: 'pending', transaction }
}

/**
 * Records whether an answer came of work that began before a block had the
 * capture.
 */
async function tellWorked(
  { gate: { context }, call: { orderId, terms } }: Tools,
  isAnswered: boolean,
): Promise<void> {
  if (terms.offer.flow !== 'upfront' || !terms.offer.early) return
  await writeAgain(context, (tables) =>
    endWork(context, tables, [orderId], { isAnswered }),
  )
}

/**
 * Captures the payment and waits until a block has the capture, even if the
 * offer allows an answer before that.
 */
const captureInBlock = (tools: Tools): Promise<Outcome> =>
  capture(tools, undefined, { early: undefined })

/**
 * Reasons that are the merchant's fault. The payment itself is good, so a later
 * try can capture it.
 */
const ownReasons: readonly string[] = [
  'feeTooHigh',
  'signingDeclined',
  'walletRefused',
]

/**
 * Refuses a payment whose capture was rejected. First voids its order: the
 * client may now sign a new payment, and a later capture of this one would
 * charge it twice.
 */
async function refuse(
  { gate, call }: Tools,
  { reason, order }: Extract<CaptureResult, { status: 'rejected' }>,
): Promise<Outcome> {
  const pending: Outcome = { kind: 'pending', transaction: undefined }
  if (order.state !== 'stored') return { kind: 'refused', reason }
  if (ownReasons.includes(reason)) return pending
  const { orderId } = call
  const { ok } = await abandonOrder(gate.context, orderId)
  // If the order could not be voided, another process has sent or settled it
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
