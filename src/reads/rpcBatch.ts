import { type NodeFailure, tidy } from './errors.js'

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
 * `false` when the answer is no batch although one was asked.
 */
export function settleRpcCalls(
  calls: readonly RpcCall[],
  answer: unknown,
): boolean {
  if (calls.length > 1 && !Array.isArray(answer)) return false
  const answers = new Map<unknown, Record<string, unknown>>()
  for (const one of Array.isArray(answer) ? answer : [answer])
    if (typeof one === 'object' && one) answers.set(one.id, one)
  for (const call of calls) call.settle(readOutcome(answers.get(call.id)))
  return true
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
