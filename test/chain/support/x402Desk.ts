import type { AddressInfo } from 'node:net'
import { type ServerType, serve } from '@hono/node-server'
import { x402Client, x402HTTPClient } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import {
  createX402Gate,
  type X402Gate,
  type X402GateParameters,
} from 'countersign/x402'
import { type Address, erc20Abi, type PrivateKeyAccount } from 'viem'
import { readContract } from 'viem/actions'
import { afterAll } from 'vitest'
import { fundedAccount } from './desk.js'
import { openShop, type Shop } from './shop.js'

/** The chain of one test file, with Circle's own contracts. */
export const chain = await startDevChain({
  blockTime: 0,
  token: 'usdc',
  channels: true,
})
afterAll(() => chain.stop())

/** Every offer of the tests costs so much, in token units. */
export const price = 10_000n

export type GateShop = Shop & { gate: X402Gate; recipient: Address }

type Offers = X402GateParameters['offers']

/** A shop whose gate sells `work` and, in the flow upfront, `upfront`. */
export async function openGateShop(
  {
    offers = {},
    ...parameters
  }: Partial<Omit<X402GateParameters, 'orders'>> = {},
  given: Parameters<typeof openShop>[1] = {},
): Promise<GateShop> {
  const shop = await openShop(chain, given)
  const sold: Offers = {
    work: { amount: '0.01', description: 'Some work' },
    upfront: { amount: '0.01', flow: 'upfront' },
    ...offers,
  }
  const { orders } = shop
  const gate = createX402Gate({ orders, offers: sold, ...parameters })
  return { ...shop, gate, recipient: shop.seller }
}

/** Serves a fetch handler on loopback until the file ends. */
export async function serveApp(
  fetch: (request: Request) => Response | Promise<Response>,
): Promise<string> {
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch, port: 0, hostname: '127.0.0.1' }, () =>
      resolve(started),
    )
  })
  afterAll(() => {
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}

/** A stock client, as the packages of x402 make it. */
const stockClient = (account: PrivateKeyAccount): x402Client =>
  x402Client.fromConfig({
    schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
    // The token of the dev chain is none that the client knows.
    spendControls: { allowedAssets: true },
  })

/** The `fetch` of somebody who can pay so many times. */
export async function payingFetch(times = 1n): Promise<{
  account: PrivateKeyAccount
  fetch: typeof fetch
}> {
  const account = await fundedAccount(chain, times * price)
  return { account, fetch: wrapFetchWithPayment(fetch, stockClient(account)) }
}

/** The payment header with which a stock client answers a 402. */
export async function signFor(
  account: PrivateKeyAccount,
  response: Response,
): Promise<string> {
  const client = new x402HTTPClient(stockClient(account))
  const required = client.getPaymentRequiredResponse((name) =>
    response.headers.get(name),
  )
  const payload = await client.createPaymentPayload(required)
  const headers = client.encodePaymentSignatureHeader(payload)
  return headers['PAYMENT-SIGNATURE'] ?? ''
}

/** What the answer says of the payment. */
export const settlementOf = ({ headers }: Response) =>
  JSON.parse(atob(headers.get('PAYMENT-RESPONSE') ?? '') || 'null')

/** What a 402 asks for. */
export const requiredBy = ({ headers }: Response) =>
  JSON.parse(atob(headers.get('PAYMENT-REQUIRED') ?? '') || 'null')

/** Token units somebody has. */
export const balanceOf = (address: Address): Promise<bigint> =>
  readContract(chain.clients.public, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [address],
  })

/** How many orders there are, whatever became of them. */
export const countOrders = async (orders: Orders): Promise<number> =>
  (await orders.list({ limit: 100 })).orders.length
