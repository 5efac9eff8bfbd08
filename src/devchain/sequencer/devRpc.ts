import type { Hash, Hex } from 'viem'

/** A JSON object whose members are not checked. */
export type Json = Record<string, unknown>

/** An RPC method with its parameters. */
export type NodeCall = readonly [method: string, params: readonly unknown[]]

/** Answers one call. This can be the node, or code in front of it. */
export type AnswerRpc = (
  method: string,
  params: readonly unknown[],
) => Promise<unknown>

/** An error that a call is answered with. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault'
  readonly code: number
  readonly data: unknown
  /** HTTP status, if it is not 200. */
  readonly status: number | undefined
  /** Seconds for the header `Retry-After`. */
  readonly retryAfter: number | undefined
  /** The whole HTTP body, if the answer is not JSON-RPC. */
  readonly body: string | undefined

  constructor({
    code,
    message,
    ...rest
  }: {
    code: number
    message: string
    data?: unknown
    status?: number | undefined
    retryAfter?: number | undefined
    body?: string | undefined
  }) {
    super(message)
    this.code = code
    this.data = rest.data
    this.status = rest.status
    this.retryAfter = rest.retryAfter
    this.body = rest.body
  }
}

export function encodeAnswer(
  id: unknown,
  outcome: { result: unknown } | { fault: RpcFault },
): Json {
  if (!('fault' in outcome)) return { jsonrpc: '2.0', id, ...outcome }
  const { code, message, data } = outcome.fault
  const extra = data === undefined ? {} : { data }
  return { jsonrpc: '2.0', id, error: { code, message, ...extra } }
}

export function toFault(error: unknown): RpcFault {
  if (error instanceof RpcFault) return error
  const message = error instanceof Error ? error.message : String(error)
  return new RpcFault({ code: -32603, message })
}

export function invalidParams(message: string): RpcFault {
  return new RpcFault({ code: -32602, message })
}

export function asJson(value: unknown): Json {
  return typeof value === 'object' && value ? (value as Json) : {}
}

export function asJsonList(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(asJson) : []
}

export function toQuantity(value: number): Hex {
  return `0x${value.toString(16)}`
}

export function toHash(value: unknown): Hash {
  return String(value) as Hash
}
