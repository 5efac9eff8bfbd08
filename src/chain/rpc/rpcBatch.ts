import { classifyFailure, isTemporary } from './classifyFailure.js'
import { parseRpcError } from './errors.js'
import { isSentOnce } from './sendAgain.js'
import type { NodeFailure } from './types.js'

export type QueuedCall = {
  id: number
  method: string
  params: unknown
  /** Aborts when the caller no longer needs the answer. */
  signal?: AbortSignal | undefined
  settle(outcome: RpcOutcome): void
}

export type RpcOutcome =
  | { result: unknown; failure?: never }
  | { result?: never; failure: NodeFailure }

/**
 * Sends a call without viem's own errors and retries. The signal aborts when
 * the caller no longer needs the answer.
 */
export type SendRpc = (
  method: string,
  params: unknown,
  signal?: AbortSignal | undefined,
) => Promise<RpcOutcome>

/**
 * Encodes one call as a JSON object, several calls as a batch (JSON-RPC 2.0,
 * section 6).
 */
export function encodeRpcCalls(calls: readonly QueuedCall[]): string {
  const bodies = calls.map(({ id, method, params }) => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  }))
  const body = bodies.length === 1 ? bodies[0] : bodies
  // Converts a bigint to hex. `JSON.stringify` would throw, and the whole batch
  // would fail.
  return JSON.stringify(body, (_, value) =>
    typeof value === 'bigint' ? `0x${value.toString(16)}` : value,
  )
}

/**
 * Gives each call its answer, found by id, because answers may come in any
 * order. Returns the calls to send again one by one: all if the node does not
 * support batches, or those whose answers did not fit into the batch.
 */
export function finishRpcCalls(
  calls: readonly QueuedCall[],
  answer: unknown,
): readonly QueuedCall[] {
  const isBatch = calls.length > 1
  const failure = parseCommonError(answer, isBatch)
  if (failure) {
    if (isBatch && !isOverloaded(failure)) return calls
    for (const call of calls) call.settle({ failure })
    return []
  }
  if (isBatch && !Array.isArray(answer)) return calls
  const answers = new Map<unknown, Record<string, unknown>>()
  for (const one of Array.isArray(answer) ? answer : [answer])
    if (typeof one === 'object' && one) answers.set(one.id, one)
  return calls.filter((call) => {
    const outcome = parseOutcome(answers.get(call.id))
    if (isBatch && isCutOff(call, outcome)) return true
    call.settle(outcome)
    return false
  })
}

/**
 * Parses an error that concerns the whole batch. By JSON-RPC (section 5) its id
 * is null. Some nodes send the first id of the batch instead, and Geth sends a
 * list with one error.
 */
function parseCommonError(
  answer: unknown,
  isBatch: boolean,
): NodeFailure | undefined {
  const isLone = Array.isArray(answer) && answer.length === 1
  const { id, error } = Object(isLone ? answer[0] : answer)
  if (!error) return undefined
  const failure = parseRpcError(error)
  const isCommon =
    id == null ||
    (isBatch && (!isLone || failure.code === -32600 || isOfBatch(failure)))
  return isCommon ? failure : undefined
}

/** True when a refusal is about the batch and not about one call. */
export function isOfBatch({ words }: NodeFailure): boolean {
  return /batch/i.test(words)
}

/**
 * True for a call that Geth left unanswered because the answer to the batch
 * became too large. It is then sent again alone, unless it sends a transaction,
 * which may have arrived.
 */
function isCutOff({ method }: QueuedCall, { failure }: RpcOutcome): boolean {
  const isFull = failure && /response too large/i.test(failure.words)
  return isFull === true && !isSentOnce(method)
}

/** True when the node is only busy, so it may still support batches. */
function isOverloaded(failure: NodeFailure): boolean {
  if (classifyFailure(failure) === 'internal' || isOfBatch(failure))
    return false
  return isTemporary(failure)
}

function parseOutcome(answer: Record<string, unknown> | undefined): RpcOutcome {
  if (!answer) return { failure: { words: 'no answer has the id of the call' } }
  const error = answer.error as Record<string, unknown> | undefined
  if (error) return { failure: parseRpcError(error) }
  if (!('result' in answer))
    return { failure: { words: 'the answer has neither result nor error' } }
  return { result: answer.result }
}
