import { type ClientHttp2Session, connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import { createBuyerClient, createMerchantClient } from 'countersign/client'
import { startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import { createClient, http } from 'viem'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { fundedAccount } from '../support/desk.js'
import { openShop } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

/** Sends requests over one connection of HTTP/2, as a browser does. */
function fetchOver(session: ClientHttp2Session) {
  return async (request: Request): Promise<Response> => {
    const { pathname, search } = new URL(request.url)
    const stream = session.request(
      {
        ...Object.fromEntries(request.headers),
        ':method': request.method,
        ':path': pathname + search,
      },
      { endStream: false },
    )
    request.signal.addEventListener('abort', () => stream.close())
    stream.end(Buffer.from(await request.arrayBuffer()))
    const answered = await new Promise<Record<string, unknown>>(
      (resolve, reject) => {
        stream.once('response', resolve)
        stream.once('error', reject)
      },
    )
    const headers = new Headers()
    for (const [name, value] of Object.entries(answered))
      if (!name.startsWith(':')) headers.set(name, String(value))
    const body = Readable.toWeb(stream) as ReadableStream<Uint8Array>
    return new Response(body, { status: Number(answered[':status']), headers })
  }
}

test('both clients and their streams work over HTTP/2, on one connection', async () => {
  const { orders, seller } = await openShop(chain, {
    policy: { fulfilAt: 'included' },
  })
  const handle = createPaymentHandler(orders, {
    basePath: '/pay/v1',
    authorize: () => ({ recipients: [seller] }),
  })
  const server = createServer(getRequestListener(handle))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const session = connect(`http://127.0.0.1:${port}`)
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal })
  onTestFinished(async () => {
    stop.abort()
    await running
    session.destroy()
    server.close()
    await orders.close()
  })
  const connection = {
    url: `http://127.0.0.1:${port}/pay/v1`,
    fetch: fetchOver(session),
    retries: 0,
  }

  const merchant = createMerchantClient(connection)
  const { order, buyerToken } = await merchant.draft({ amount: '12.50' })
  const orderId = order.id
  const buyer = createBuyerClient({ ...connection, orderId, buyerToken })
  const states: string[] = []
  const following = (async () => {
    for await (const news of buyer.follow()) states.push(news.order.state)
  })()
  const account = await fundedAccount(chain, 12_500_000n)
  const wallet = createClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })
  const expect12 = { chainId: 31337, token: chain.token, to: seller }
  await buyer.pay(wallet, { expect: { ...expect12, amount: '12.50' } })
  const { status } = await merchant.capture({ orderId, wait: 25 })
  expect(status).toBe('captured')
  await following
  expect(states.at(-1)).toBe('captured')
  await expect(merchant.void({ orderId })).rejects.toMatchObject({
    name: 'ProblemError',
    status: 409,
  })
})
