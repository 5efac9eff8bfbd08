import { rmSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import { createOrders } from 'countersign/orders'
import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { mine } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliShop, openCliShop, openServer } from '../support/cliShop.js'
import { fakeNode, fundedAccount, rpcError } from '../support/desk.js'
import { pay } from '../support/shop.js'

const otherId = 31338
let first: Awaited<ReturnType<typeof startDevChain>>
let other: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop

/** True while the node of the other chain refuses to read logs. */
let isRefusing = false

beforeAll(async () => {
  first = await startDevChain({ blockTime: 0 })
  other = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(first)
  const orders = openServer(shop)
  const buyer = await fundedAccount(first, 1_000_000n)
  const { order, payment } = await orders.draft({ amount: '1' })
  const signed = await pay(buyer, payment)
  await orders.accept({ orderId: order.id, payment: signed })
  await orders.capture({ orderId: order.id })
  await orders.close()
  const { address } = privateKeyToAccount(shop.merchantKey)
  await other.mint({ to: address, value: 5n })
  // Two parts here, and one on the other chain.
  await mine(first.clients.test, { blocks: 2_100 })
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await Promise.all([first.stop(), other.stop()])
})

/** The shop on two chains. The other one is named by another chain id. */
function onTwoChains() {
  const chain = { ...other.chain, id: otherId }
  const { client } = fakeNode(other, async ({ method }, forward) => {
    if (method === 'eth_chainId') return '0x7a6a'
    if (method === 'eth_getLogs' && isRefusing)
      throw rpcError(-32000, 'no logs today')
    return forward()
  })
  const account = privateKeyToAccount(shop.merchantKey)
  const transport = custom({ request: client.request })
  const one = shop.parameters()
  return shop.parameters({
    tokens: [
      { client: { ...client, chain }, token: other.token },
      ...one.tokens,
    ],
    wallets: [...one.wallets, createClient({ account, chain, transport })],
  })
}

const load = async () => ({ default: onTwoChains() })

/** The shares that a progress bar showed. */
const sharesIn = (text: string) =>
  [...text.matchAll(/(\d+) %/g)].map(([, share]) => Number(share))

test('the progress of an audit counts the parts of all chains', async () => {
  const args = ['audit', '--json', '--from', '0']
  const ran = await shop.run(args, { load, isErrorTerminal: true })
  expect(sharesIn(ran.stderr)).toEqual([0, 33, 66, 100])
  expect(ran.stderr).toMatch(/\r +\r$/)
  // The tokens on the other chain came without an order.
  expect(ran.code).toBe(1)
  const whole = createOrders(onTwoChains())
  const { destinations } = await whole.audit({ fromBlock: 0n })
  await whole.close()
  expect(destinations.map(({ chain }) => chain)).toEqual([
    { count: 1, value: 5n },
    { count: 1, value: 1_000_000n },
  ])
  expect(JSON.parse(ran.stdout).destinations).toEqual(
    JSON.parse(
      JSON.stringify(destinations, (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      ),
    ),
  )
})

test('without a terminal on standard error there is no bar', async () => {
  const ran = await shop.run(['audit'], { load, isTerminal: true })
  expect(ran).toMatchObject({ code: 0, stderr: '' })
})

test('an audit that fails on one chain shows no progress after its error', async () => {
  isRefusing = true
  const args = ['audit', '--from', '0']
  const ran = await shop.run(args, { load, isErrorTerminal: true })
  isRefusing = false
  expect(ran).toMatchObject({ code: 1, stdout: '' })
  expect(ran.stderr).toMatch(
    /\r +\rThe node refuses the logs of block 0: .*\n$/,
  )
})
