import { isPassing, type NodeFailure, tidy } from './errors.js'

/** A request waiting for its answer. */
export type RpcCall = {
  id: number
  method: string
  params: unknown
  settle(outcome: RpcOutcome): void
}

export type RpcOutcome =
  | { result: unknown; failure?: never }
  | { result?: never; failure: NodeFailure }

/** One call is an object, several are a batch (JSON-RPC 2.0, section 6). */
export function encodeRpcCalls(calls: readonly RpcCall[]): string {
  const bodies = calls.map(({ id, method, params }) => ({
    jsonrpc: '2.0',
    id,
    method,
    params,
  }))
  return JSON.stringify(bodies.length === 1 ? bodies[0] : bodies)
}

/**
 * Hands each call its answer, matched by id in whatever order they came.
 * `false` when the answer is no batch although one was asked, and not for a
 * reason that passes.
 */
export function settleRpcCalls(
  calls: readonly RpcCall[],
  answer: unknown,
): boolean {
  const failure = readCommonError(answer)
  if (failure) {
    if (calls.length > 1 && !isOverloaded(failure)) return false
    for (const call of calls) call.settle({ failure })
    return true
  }
  if (calls.length > 1 && !Array.isArray(answer)) return false
  const answers = new Map<unknown, Record<string, unknown>>()
  for (const one of Array.isArray(answer) ? answer : [answer])
    if (typeof one === 'object' && one) answers.set(one.id, one)
  for (const call of calls) call.settle(readOutcome(answers.get(call.id)))
  return true
}

/** What a node could not tell whose error it is has no id (section 5). */
function readCommonError(answer: unknown): NodeFailure | undefined {
  const { id, error } = Object(Array.isArray(answer) ? undefined : answer)
  return error && id == null ? readRpcError(error) : undefined
}

/** Says nothing about batches: the node has no time for this one. */
function isOverloaded(failure: NodeFailure): boolean {
  if (failure.code === -32603 || /batch/i.test(failure.words)) return false
  return isPassing(failure)
}

function readOutcome(answer: Record<string, unknown> | undefined): RpcOutcome {
  if (!answer) return { failure: { words: 'no answer has the id of the call' } }
  const error = answer.error as Record<string, unknown> | undefined
  if (error) return { failure: readRpcError(error) }
  if (!('result' in answer))
    return { failure: { words: 'the answer has neither result nor error' } }
  return { result: answer.result }
}

/** A JSON-RPC error object; its data may hold revert bytes. */
export function readRpcError(error: unknown): NodeFailure {
  const { code, message, data } = Object(error)
  return {
    words:
      typeof message === 'string' ? tidy(message) : 'an error without words',
    ...(typeof code === 'number' ? { code } : {}),
    ...(typeof data === 'string' && data.startsWith('0x')
      ? { data: data as `0x${string}` }
      : {}),
  }
}
