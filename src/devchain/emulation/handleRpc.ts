import {
  type AnswerRpc,
  asJson,
  encodeAnswer,
  type Json,
  RpcFault,
  toFault,
} from '../sequencer/devRpc.js'
import { type DevPolicies, refuseRequest } from './policies.js'

export type RpcReply = {
  status: number
  /** Seconds for the header `Retry-After`. */
  retryAfter?: number | undefined
  /**
   * The answer as JSON-RPC, or the plain text with which a gateway refuses the
   * request.
   */
  body: string
}

type HandleRpcParameters = {
  text: string
  answer: AnswerRpc
  policies: DevPolicies
  /**
   * Number of this request among all that have come, from 1. The rate limit
   * refuses by this number.
   */
  count: number
  /**
   * False for a WebSocket, which has no HTTP status. A refusal is then sent as
   * a JSON-RPC error.
   */
  overHttp: boolean
}

/** Answers one HTTP body or one WebSocket message. */
export async function handleRpc({
  text,
  answer,
  policies,
  count,
  overHttp,
}: HandleRpcParameters): Promise<RpcReply> {
  const body = parse(text)
  const calls = Array.isArray(body) ? body : [body]
  const methods = calls.map((call) => asJson(call).method)
  if (policies.latency) await wait(policies.latency)

  const refused =
    body === undefined || calls.length === 0
      ? new RpcFault({ code: -32700, message: 'Parse error' })
      : refuseRequest(policies, { methods, count })
  if (refused) {
    const id = Array.isArray(body) ? null : (asJson(body).id ?? null)
    return replyWithFault(refused, id, overHttp)
  }
  if (Array.isArray(body)) {
    const answers = body.map(
      async (call) => (await answerCall(call, answer)).json,
    )
    return { status: 200, body: JSON.stringify(await Promise.all(answers)) }
  }
  const { json, fault } = await answerCall(body, answer)
  const status = fault?.status ?? 200
  return { status, body: JSON.stringify(json) }
}

async function answerCall(
  call: unknown,
  answer: AnswerRpc,
): Promise<{ json: Json; fault?: RpcFault }> {
  const { id = null, method, params } = asJson(call)
  try {
    if (typeof method !== 'string')
      throw new RpcFault({ code: -32600, message: 'Invalid request' })
    const result = await answer(method, Array.isArray(params) ? params : [])
    return { json: encodeAnswer(id, { result: result ?? null }) }
  } catch (error) {
    const fault = toFault(error)
    return { json: encodeAnswer(id, { fault }), fault }
  }
}

function replyWithFault(
  fault: RpcFault,
  id: unknown,
  overHttp: boolean,
): RpcReply {
  const json = JSON.stringify(encodeAnswer(id, { fault }))
  const body = overHttp ? (fault.body ?? json) : json
  return { status: fault.status ?? 200, retryAfter: fault.retryAfter, body }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
