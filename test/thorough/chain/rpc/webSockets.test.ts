import { createServer } from 'node:net'
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { memoryStore } from 'countersign/store'
import { createClient, webSocket } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { endingClient } from '../../../../src/chain/rpc/endingClient.js'
import { getChainId } from '../../../../src/chain/rpc/requestNode.js'
import { fundedAccount } from '../../../chain/support/desk.js'
import { pay } from '../../../chain/support/shop.js'
import { startTcpProxy } from '../../../chain/support/tcpProxy.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

/** A time-out that comes too early costs another try, and no test. */
const socketOf = (url: string) => webSocket(url, { timeout: 1_000 })

/** Asks until there is an answer, a bounded number of times. */
async function askOn(ask: () => Promise<unknown>): Promise<unknown> {
  for (let left = 30; ; left--)
    try {
      return await ask()
    } catch (error) {
      if (left === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
}

test('a worker’s client replaces a WebSocket whose other side vanished', async () => {
  const proxy = await startTcpProxy(chain.urls.webSocket)
  const { signal } = new AbortController()
  const client = createClient({ transport: socketOf(proxy.url) })
  const ending = endingClient(client, signal)
  expect(await getChainId(ending)).toBe(31337)
  proxy.freeze()
  expect(await askOn(() => getChainId(ending))).toBe(31337)
  expect(proxy.count()).toBe(2)
})

test('a read client over a WebSocket replaces it the same way', async () => {
  const proxy = await startTcpProxy(chain.urls.webSocket)
  const client = createReadClient({
    transport: socketOf(proxy.url),
    retry: 0,
  })
  expect(await getChainId(client)).toBe(31337)
  proxy.freeze()
  expect(await askOn(() => getChainId(client))).toBe(31337)
})

test('a request over a WebSocket that never opens ends with a time-out', async () => {
  const proxy = await startTcpProxy(chain.urls.webSocket)
  await proxy.shut()
  const silent = createServer(() => undefined)
  await new Promise<void>((ready) =>
    silent.listen(Number(new URL(proxy.url).port), '127.0.0.1', ready),
  )
  const client = createReadClient({
    transport: socketOf(proxy.url),
    retry: 0,
  })
  await expect(getChainId(client)).rejects.toThrow('no answer in 1000 ms')
  silent.close()
})

test('a node that comes back late is asked again, though viem gave it up', async () => {
  const proxy = await startTcpProxy(chain.urls.webSocket)
  const { signal } = new AbortController()
  const reconnect = { attempts: 1, delay: 10 }
  const transport = webSocket(proxy.url, { timeout: 1_000, reconnect })
  const ending = endingClient(createClient({ transport }), signal)
  await getChainId(ending)
  await proxy.shut()
  for (let count = 0; count < 3; count++)
    await expect(getChainId(ending)).rejects.toThrow()
  await proxy.open()
  expect(await askOn(() => getChainId(ending))).toBe(31337)
})

test('a worker over a WebSocket goes on when its connection vanished', async () => {
  const proxy = await startTcpProxy(chain.urls.webSocket)
  const transport = socketOf(proxy.url)
  const account = await fundedAccount(chain)
  const client = createClient({ chain: chain.chain, transport })
  const wallet = createClient({ account, chain: chain.chain, transport })
  const direct = createReadClient({ url: chain.urls.http, chain: chain.chain })
  const shared = {
    store: memoryStore(),
    seal: 'none',
    policy: { capture: 'onAccept', fulfilAt: 'included' },
  } as const
  const orders = createOrders({
    ...shared,
    tokens: [{ client, token: chain.token }],
    wallets: [wallet],
  })
  const desk = createOrders({
    ...shared,
    tokens: [{ client: direct, token: chain.token }],
    wallets: [wallet],
  })
  const stop = new AbortController()
  const run = orders.run({ signal: stop.signal })
  const buyer = await fundedAccount(chain, 2_000_000n)
  const sell = async () => {
    const { order, payment } = await desk.draft({ amount: '1' })
    const signed = await pay(buyer, payment)
    const verdict = await desk.accept({ orderId: order.id, payment: signed })
    expect(verdict).toMatchObject({ ok: true })
    const orderId = order.id
    for (let left = 400; left > 0; left--) {
      if ((await desk.get({ orderId })).state === 'captured') return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    throw new Error('The order was not captured.')
  }
  await sell()
  proxy.freeze()
  await sell()
  stop.abort()
  await run
})
