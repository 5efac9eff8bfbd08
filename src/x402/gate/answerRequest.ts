import { forgetToken } from '../../chain/state/getToken.js'
import { formatAmount } from '../../core/amount.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { abandonOrder, acceptUndrafted } from '../../orders/engine.js'
import { verifyPayment } from '../../payments/verify/verifyPayment.js'
import { isInDestinations } from '../../store/isInDestinations.js'
import type { Destination } from '../../store/types.js'
import { errorCodeOf, type X402ErrorCode } from '../wire/errorCodes.js'
import { isPreflight } from '../wire/isPreflight.js'
import { isSignedByKey } from '../wire/isSignedByKey.js'
import { orderIdOf } from '../wire/orderIdOf.js'
import { channelScheme } from '../wire/requirements.js'
import {
  answerOutcome,
  refuse,
  refuseAddress,
  requirePayment,
} from './answers.js'
import { exchangeKey, noteOf } from './exchanges.js'
import { heirOf } from './heirOf.js'
import type { Liveness } from './liveness.js'
import { getTerms } from './openGate.js'
import { readHeader } from './readHeader.js'
import { type ReadRequest, readPaid } from './readPaid.js'
import {
  type BegunExchange,
  type PaidCall,
  runExchange,
} from './runExchange.js'
import { placeOfAnswer } from './sealAnswer.js'
import type {
  AnswerParameters,
  Asked,
  Exchange,
  GateContext,
  Outcome,
  Refusal,
  Run,
  Terms,
} from './types.js'

type Tools = { gate: GateContext; liveness: Liveness }
type Paid = Extract<ReadRequest, { ok: true }>

const spent: X402ErrorCode = 'invalid_exact_evm_nonce_already_used'

/** Implements `answer` of a gate, after the gate has opened its store. */
export async function answerRequest(
  tools: Tools,
  request: Request,
  { offer, handler, stream }: AnswerParameters,
): Promise<Response> {
  const { gate } = tools
  if (isPreflight(request)) return new Response(null, { status: 204 })
  if (request.bodyUsed || request.body?.locked)
    throw new InvalidFieldError(
      'request',
      request,
      'a request whose body is unread',
      'Put the gate before any middleware that reads the body.',
    )
  const asked = await readAsked(gate, request, offer)
  const tooLong = refuseAddress(asked)
  if (tooLong) return tooLong
  const read = readHeader(gate, request, asked)
  if (!read.ok) return read.response
  const { payload } = read
  const flow = asked.terms.find(({ channel }) => channel)?.channel?.flow
  if (flow && payload.accepted.scheme === channelScheme)
    return flow.answer(gate, { request, asked, payload, handler, stream })
  const paid = await readPaid(gate, request, asked, read)
  if (!paid.ok) return paid.response

  const { payment } = paid
  const orderId = orderIdOf(payment, gate.context.keccak256)
  const { working } = gate
  let running = working.get(orderId)
  // The same payment is being used for a different request. Waits until that
  // has ended, and then checks again, because another waiting request may have
  // begun first.
  while (running && running.bound !== paid.bound) {
    await running.ended.catch(() => undefined)
    running = working.get(orderId)
  }
  running?.waiting.push(request)
  const given = { asked, paid, orderId, request, handler, stream }
  const joined = running ?? startRun(tools, given)
  const ended = await joined.ended
  if (typeof ended === 'function') return ended()
  // A stream can be read only once, so only one of the waiting requests gets
  // it.
  const live =
    ended.kind === 'paid' && heirOf(joined) === request
      ? ended.stream?.(request.signal)
      : undefined
  return answerOutcome(asked, { payment, live }, ended)
}

type Given = Pick<PaidCall, 'orderId' | 'request' | 'handler'> & {
  asked: Asked
  paid: Paid
  stream: boolean | undefined
}

/** A request that waits for its run, with all others that joined it. */
type Started = Given & Pick<Run, 'waiting'>

/**
 * Starts to process a payment: check, handler, capture. Requests with the same
 * payment that arrive meanwhile in this process share this run and its outcome.
 */
function startRun(tools: Tools, given: Given): Run {
  const { working } = tools.gate
  const { orderId, request, paid } = given
  const waiting = [request]
  const ended = run(tools, { ...given, waiting }).finally(() => {
    if (working.get(orderId) === started) working.delete(orderId)
  })
  const started: Run = { bound: paid.bound, ended, waiting }
  working.set(orderId, started)
  return started
}

/** A payment on record, and the terms on which it was accepted. */
type Begun = BegunExchange & { terms: Terms }

async function run(tools: Tools, given: Started): Promise<Outcome | Refusal> {
  const begun =
    (await findRecorded(tools, given)) ?? (await begin(tools, given))
  if (typeof begun === 'function') return begun
  return runExchange({ ...tools, call: callOf(given, begun) }, begun)
}

/**
 * Continues or refuses a payment by its record in the store. Returns
 * `undefined` if there is none. What is on record is answered from the record,
 * whatever a verification says.
 */
async function findRecorded(
  { gate, liveness }: Tools,
  given: Given,
): Promise<Begun | Refusal | undefined> {
  const { asked, paid, orderId } = given
  const { payment, payload, identifier } = paid
  const { nonce } = payment.message
  const known = await gate.loadKnown({ orderId, nonce, payload, identifier })
  if (known.conflict) return refuseConflict(given)
  const refusal = paid.refusal ?? (() => requirePayment(asked, spent))
  const { note } = known
  if (!note) return known.isSpent ? refusal : undefined
  // The payment was accepted for another offer, method, resource, body or
  // payload, and may be used only for that.
  const terms = paid.recordedTerms(note.data)
  if (!terms) return refusal
  await liveness.hold()
  return { note, isOurs: false, terms }
}

function callOf(
  { paid, orderId, request, handler, waiting, stream }: Started,
  { terms }: Begun,
): PaidCall {
  const { payment } = paid
  const { offer, token, value } = terms
  return {
    orderId,
    terms,
    request,
    waiting,
    handler,
    isStream: offer.stream && stream !== false,
    place: placeOfAnswer(orderId, payment),
    payment: {
      orderId,
      offer: offer.name,
      payer: payment.message.from,
      amount: formatAmount(value, token.decimals),
    },
  }
}

const refuseIdentifier: Refusal = () =>
  refuse(409, 'payment_identifier_conflict')

/**
 * Refuses a payment whose identifier belongs to another payment. Tells this
 * only to a client that proves to be the payer by the signature: nobody else
 * may learn which identifiers exist.
 */
async function refuseConflict({ asked, paid }: Given): Promise<Refusal> {
  const { payment, terms } = paid
  if (await isSignedByKey(payment)) return refuseIdentifier
  const { token, client, recipient: to, amount } = terms.offer
  const primaryType = 'TransferWithAuthorization'
  const verdict = await verifyPayment(client, {
    payment,
    expect: { token, to, amount, primaryType },
  })
  if (verdict.ok) return refuseIdentifier
  return () => requirePayment(asked, errorCodeOf(verdict.reason))
}

async function readAsked(
  gate: GateContext,
  request: Request,
  offer: AnswerParameters['offer'],
): Promise<Asked> {
  const [first, ...others] = await Promise.all(
    [offer].flat().map((name) => {
      const known = gate.offers.get(name)
      if (known) return getTerms(known)
      throw new InvalidFieldError('offer', shown(name), 'the name of an offer')
    }),
  )
  if (!first) throw new InvalidFieldError('offer', offer, 'at least one name')
  const resource: unknown = gate.resource(request)
  // A payment is bound to this text. An async function would return a promise,
  // whose text is the same for every resource, so one payment would fit all of
  // them.
  if (typeof resource !== 'string')
    throw new InvalidFieldError(
      'resource',
      resource,
      'a function that returns text',
    )
  const { shop } = gate.context
  // Another process may have removed recipients.
  await shop.refresh().catch(() => undefined)
  const terms = [first, ...others] as const
  const getOpen = () => terms.filter(({ offer }) => isServed(shop, offer))
  return { terms, getOpen, resource }
}

/** True while the shop takes new orders for the recipient of an offer. */
const isServed = (
  shop: GateContext['context']['shop'],
  offer: Destination,
): boolean =>
  isInDestinations(offer, shop.destinations) && !shop.isRemoved(offer)

/**
 * Accepts a payment: stores its order, and the record of how far its processing
 * has come. If it is refused, answers from its record all the same if there is
 * one by now: while this process verified it, another request may have used it,
 * and then its nonce is consumed or its payer's balance is gone.
 */
async function begin(tools: Tools, given: Given): Promise<Begun | Refusal> {
  const { gate, liveness } = tools
  const { asked, orderId, request, paid } = given
  if (paid.refusal) return paid.refusal
  const { terms, payment, bound } = paid
  const { offer, token, value } = terms
  const isUpfront = offer.flow === 'upfront'
  const data: Exchange = {
    bound,
    offer: offer.name,
    step: isUpfront ? 'paying' : 'working',
    owner: gate.owner,
  }
  const key = exchangeKey(orderId)
  const until = (payment.message.validBefore + gate.keepFor) * 1000n
  const verdict = await acceptUndrafted(gate.context, {
    orderId,
    payment,
    token,
    recipient: offer.recipient,
    value,
    metadata: {
      x402: {
        offer: offer.name,
        method: request.method,
        resource: asked.resource.slice(0, 2_000),
      },
    },
    mostOpen: gate.mostOpen,
    capture: isUpfront ? 'now' : 'later',
    early: isUpfront ? offer.early : undefined,
    meanwhile: ({ chainId, submitter: account }) => {
      gate.instance.drive().prepare({ chainId, account })
      // Takes this gate's lease before the record is stored. Another process
      // that finds the record but no lease would think that this process has
      // died.
      return liveness.hold()
    },
    also: async (_, { needsReview }, { notes }) => {
      gate.unsure.add(key)
      const begun: Exchange = needsReview ? { ...data, step: 'over' } : data
      notes.push(noteOf({ key, until, data: begun }))
      if (paid.identifier === undefined) return
      notes.push({
        key: paid.identifier,
        until,
        data: { payload: paid.payload, orderId },
      })
    },
  })
  gate.unsure.delete(key)
  if (verdict.ok && verdict.stored.order.needsReview) {
    // An earlier capture of this payer failed on chain, so the merchant must
    // first review this order. No client waits that long, so the order is
    // voided.
    await abandonOrder(gate.context, orderId)
    return () => requirePayment(asked, errorCodeOf('simulationFailed'))
  }
  if (verdict.ok) {
    const note = { key, until, data, version: 1 }
    return { note, isOurs: true, stored: verdict.stored, terms }
  }
  if (verdict.reason === 'removedRecipient') await gate.context.shop.refresh()
  if (verdict.reason === 'wrongDomain') forgetToken(offer.client, offer.token)
  const recorded = await findRecorded(tools, given)
  return recorded ?? (() => refuseAccept(asked, verdict))
}

function refuseAccept(asked: Asked, { reason }: { reason: string }): Response {
  if (reason === 'tooManyOpen') return refuse(429, 'too_many_open_payments')
  const code = errorCodeOf(reason)
  // The fault is on the server's side. 503 tells the client to send the same
  // payment again; after a 402 it would sign a new one.
  return code === 'unexpected_verify_error'
    ? refuse(503, code)
    : requirePayment(asked, code)
}
