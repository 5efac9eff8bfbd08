/** What we keep of an error from a node, a transport or a wallet. */
export type NodeFailure = {
  /** JSON-RPC error code. */
  code?: number
  /** HTTP status. */
  status?: number
  /** The error text without long hex, endpoint URLs and call data. */
  words: string
  /** Revert data. */
  data?: `0x${string}`
  /** Only the host of the endpoint: the rest of its URL may be secret. */
  host?: string | undefined
  /** Milliseconds to wait before the next try, from `Retry-After`. */
  retryAfter?: number | undefined
}
