import { createClient, http } from 'viem'
import { expect, test } from 'vitest'
import { createReadClient } from '../../../../src/chain/state/createReadClient.js'
import { getBalance } from '../../../../src/chain/state/getBalance.js'
import { address, serve } from '../../support/serveRpc.js'

const clients = [
  ['a read client', (url: string) => createReadClient({ url, retry: 0 })],
  [
    'viem’s http',
    (url: string) => createClient({ transport: http(url, { retryCount: 0 }) }),
  ],
] as const

const answers = [
  [503, -32011, 'no backend is currently healthy to serve traffic', true],
  [429, -32011, 'too many requests', true],
  [500, -32013, 'backend returned an invalid response', true],
  [400, -32019, 'block is out of range', true],
  [400, 4444, 'pruned history unavailable', false],
  [403, -32601, 'rpc method is not whitelisted', false],
] as const

test.each(
  clients.flatMap(([client, connect]) =>
    answers.map((answer) => [client, ...answer, connect] as const),
  ),
)(
  'over %s, HTTP %i with code %i "%s" is retryable: %s',
  async (client, status, code, message, retryable, connect) => {
    const { url } = await serve(({ calls }) => ({
      status,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: calls[0]?.id,
        error: { code, message },
      }),
    }))
    await expect(
      getBalance(connect(url), { address, block: 'latest' }),
    ).rejects.toMatchObject({
      name: 'NodeError',
      retryable,
      // Older versions of viem drop the status beside a JSON-RPC error.
      details: {
        code,
        words: message,
        ...(client === 'a read client' && { status }),
      },
    })
  },
)
