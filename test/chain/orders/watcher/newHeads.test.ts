import { type DevChain, startDevChain } from 'countersign/devchain'
import type { PaymentStore } from 'countersign/store'
import { createClient, http, type Transport, webSocket } from 'viem'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { memoryStore } from '../../../../src/store/memoryStore.js'
import { eventually } from '../../../unit/support/webhooksRun.js'
import { openShop } from '../../support/shop.js'
import { mineBlocks } from '../../support/watching.js'

let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
})
afterAll(() => chain.stop())

/**
 * A worker whose client asks over HTTP and hears of new blocks over a socket,
 * and the number of its looks.
 */
async function runWithSocket(pollingInterval: number) {
  const socket = webSocket(chain.urls.webSocket, {
    reconnect: false,
    key: `${pollingInterval}`,
  })({})
  let looks = 0
  const transport: Transport = (config) => {
    const inner = http(chain.urls.http)(config)
    const request: typeof inner.request = (asked, options) => {
      const { method, params } = Object(asked)
      if (method === 'eth_getBlockByNumber' && params[0] === 'latest') looks++
      return inner.request(asked, options)
    }
    return { ...inner, request, value: { ...inner.value, ...socket.value } }
  }
  const client = createClient({ chain: chain.chain, transport })
  const shop = await openShop(chain, { client, policy: { pollingInterval } })
  const ending = new AbortController()
  const running = shop.orders.run({ signal: ending.signal })
  const close = async () => (await socket.value?.getRpcClient())?.close()
  onTestFinished(async () => {
    ending.abort()
    await running
    await shop.orders.close()
    await close()
  })
  await eventually(async () => looks).toBeGreaterThan(0)
  return { looks: () => looks, close }
}

test('a new block ends the pause between two looks', async () => {
  const { looks } = await runWithSocket(600_000)
  const before = looks()
  await eventually(async () => {
    await mineBlocks(chain, 1)
    return looks()
  }).toBeGreaterThan(before)
})

test('a socket that is silent or closed delays no look', async () => {
  const { looks, close } = await runWithSocket(50)
  const silent = looks()
  await eventually(async () => looks()).toBeGreaterThan(silent + 2)
  await close()
  const closed = looks()
  await eventually(async () => looks()).toBeGreaterThan(closed + 2)
})

test('a worker that is to end listens to no new block, even while its database hangs', async () => {
  let listening = 0
  const subscribe = async () => {
    listening++
    return { unsubscribe: async () => void listening-- }
  }
  const transport: Transport = (config) => {
    const inner = http(chain.urls.http)(config)
    return { ...inner, value: { ...inner.value, subscribe } }
  }
  const client = createClient({ chain: chain.chain, transport })
  const inner = memoryStore()
  let isHung = false
  let hanging = 0
  const hang = <result>(work: () => Promise<result>): Promise<result> => {
    if (!isHung) return work()
    hanging++
    return new Promise(() => undefined)
  }
  const store: PaymentStore = {
    ...inner,
    takeLease: (wanted) => hang(() => inner.takeLease(wanted)),
    read: (work) => hang(() => inner.read(work)),
    write: (work, lease) => hang(() => inner.write(work, lease)),
  }
  const shop = await openShop(chain, {
    client,
    store,
    policy: { pollingInterval: 20 },
  })
  const ending = new AbortController()
  const running = shop.orders.run({ signal: ending.signal })
  await eventually(async () => listening).toBe(1)
  isHung = true
  // A look at the chain and one at the submitter.
  await eventually(async () => hanging).toBeGreaterThan(1)
  ending.abort()
  await running
  expect(listening).toBe(0)
})
