/**
 * The parts of an error of a node, a transport or a wallet that hold no secret.
 */
export type NodeFailure = {
  /** JSON-RPC error code; absent if the node sent none. */
  code?: number
  /** HTTP status of the answer; absent if there was none. */
  status?: number
  /** The error text, without long hex, endpoint URLs and call data. */
  words: string
  /** Revert data of the contract; absent if the call did not revert. */
  data?: `0x${string}`
  /** Host of the endpoint, without the rest of its URL, which may be secret. */
  host?: string | undefined
  /** Milliseconds to wait before the next try, from `Retry-After`. */
  retryAfter?: number | undefined
}
