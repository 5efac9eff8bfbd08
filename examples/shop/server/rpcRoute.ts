import type { DevChain } from 'countersign/devchain'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'

/** Reads, and what a wallet sends a signed transaction with. */
const allowed: ReadonlySet<unknown> = new Set([
  'eth_blockNumber',
  'eth_call',
  'eth_chainId',
  'eth_estimateGas',
  'eth_feeHistory',
  'eth_gasPrice',
  'eth_getBalance',
  'eth_getBlockByHash',
  'eth_getBlockByNumber',
  'eth_getCode',
  'eth_getLogs',
  'eth_getTransactionByHash',
  'eth_getTransactionCount',
  'eth_getTransactionReceipt',
  'eth_maxPriorityFeePerGas',
  'eth_sendRawTransaction',
  'net_version',
])

const maxBatch = 20

/** Passes the page's JSON-RPC on, so that it needs no origin but its own. */
export function rpcRoute({ urls }: Pick<DevChain, 'urls'>): Hono {
  const app = new Hono()
  app.post('/', bodyLimit({ maxSize: 65_536 }), async (context) => {
    const body: unknown = await context.req.json().catch(() => undefined)
    const refusal = refuse(body)
    if (refusal) return context.json(refusal, 400)
    const { signal } = context.req.raw
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(urls.http, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, AbortSignal.timeout(15_000)]),
    }).catch(() => undefined)
    // A node's own trouble would look like an answer to what was asked.
    return answer?.ok
      ? new Response(answer.body, { headers })
      : context.json(error(-32000, 'The chain does not answer.'), 502)
  })
  return app
}

function refuse(body: unknown): unknown {
  const calls = Array.isArray(body) ? body : [body]
  if (calls.length === 0 || calls.length > maxBatch)
    return error(-32600, `Send from 1 to ${maxBatch} calls.`)
  const isAllowed = calls.every((call) => allowed.has(Object(call).method))
  return isAllowed
    ? undefined
    : error(-32601, 'This page may not call this method.')
}

function error(code: number, message: string): unknown {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
}
