import { createClient, http } from 'viem'

/**
 * What mines a block of a development chain, past whatever is done with
 * `fetch` afterwards.
 */
export function blockMiner(url: string): () => Promise<void> {
  const fetchFn = globalThis.fetch
  const client = createClient({ transport: http(url, { fetchFn }) })
  const method = 'evm_mine'
  return async () => {
    await client.request<{
      Method: string
      Parameters: []
      ReturnType: unknown
    }>({ method, params: [] })
  }
}
