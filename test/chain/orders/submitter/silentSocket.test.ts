import { startDevChain } from 'countersign/devchain'
import { createClient, fallback, http, webSocket } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import { openShop, storedOrder } from '../../support/shop.js'
import { startTcpProxy } from '../../support/tcpProxy.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

test('where the socket of a fallback goes silent, sales go on over the other transport', async () => {
  const proxy = await startTcpProxy(chain.urls.webSocket)
  const connect = (account?: Awaited<ReturnType<typeof fundedAccount>>) =>
    createClient({
      ...(account ? { account } : {}),
      chain: chain.chain,
      transport: fallback([
        webSocket(proxy.url),
        http(chain.urls.http, { retryCount: 0 }),
      ]),
    })
  const shop = await openShop(chain, {
    client: connect(),
    wallets: [connect(await fundedAccount(chain))],
  })
  const sell = async () => {
    const { id } = await storedOrder(chain, shop)
    const { status } = await shop.orders.capture({
      orderId: id,
      timeout: 20_000,
    })
    return status
  }
  expect(await sell()).toBe('captured')
  proxy.freeze()
  expect([await sell(), await sell()]).toEqual(['captured', 'captured'])
  await shop.orders.close()
})
