import { createReadClient } from 'countersign/reads'
import { createClient, http } from 'viem'
import { expect, test } from 'vitest'
import { getBalance } from '../../../src/chain/state/getBalance.js'
import { address, serve } from '../support/serveRpc.js'
import { messageOf } from './messageOf.js'

const clients = [
  ['a read client', (url: string) => createReadClient({ url })],
  ['a client of viem', (url: string) => createClient({ transport: http(url) })],
] as const

test.each(clients)(
  'the error of %s names a node that is down',
  async (_, open) => {
    const client = open('http://127.0.0.1:1/secret-key')
    const message = await messageOf(() =>
      getBalance(client, { address, block: 'latest' }),
    )
    expect(message).toMatch(/^eth_getBalance failed at 127\.0\.0\.1:1: .+\.$/)
    expect(message).not.toContain('secret-key')
  },
)

test.each(clients)(
  '%s does not wait in silence for a node that refuses for long',
  async (_, open) => {
    const { url, seen } = await serve(() => ({
      status: 429,
      headers: { 'retry-after': '31' },
      body: 'slow',
    }))
    const work = () => getBalance(open(url), { address, block: 'latest' })
    const message = await messageOf(work)
    // viem puts the words in quotes.
    expect(message.replaceAll('"', '')).toBe(
      `eth_getBalance failed at ${new URL(url).host}: HTTP 429 (too many requests), slow; ask again after 31 seconds.`,
    )
    expect(seen).toHaveLength(1)
  },
)

test.each(clients)(
  '%s asks again after a pause that is short',
  async (_, open) => {
    const { url, seen } = await serve(() => ({
      status: 429,
      headers: { 'retry-after': '0' },
      body: '',
    }))
    const work = () => getBalance(open(url), { address, block: 'latest' })
    expect(await messageOf(work)).toContain('HTTP 429 (too many requests)')
    expect(seen).toHaveLength(4)
  },
)

test('the HTTP status of a refusal is in the message', async () => {
  const { url } = await serve(() => ({ status: 401, body: 'invalid project' }))
  const client = createReadClient({ url })
  expect(
    await messageOf(() => client.getBalance({ address, block: 'latest' })),
  ).toBe(
    `eth_getBalance failed at ${new URL(url).host}: HTTP 401, invalid project.`,
  )
})
