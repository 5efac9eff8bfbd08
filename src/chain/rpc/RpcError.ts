import type { NodeFailure } from './errors.js'

/** A JSON-RPC error on its way to viem, which knows it by its code. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly code: number | undefined
  readonly status: number | undefined
  readonly data: unknown

  constructor({ words, code, status, data }: NodeFailure) {
    super(words)
    this.code = code
    this.status = status
    this.data = data
  }
}
