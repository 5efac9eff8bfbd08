import { type Client, createClient, custom } from 'viem'
import { getBlockNumber } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import {
  chargesOf,
  openSubscriptionShop,
  pass,
  period,
  type SubscriptionShop,
  startSubscriptionChain,
} from '../../support/subscriptionShop.js'

const chain = await startSubscriptionChain()
afterAll(() => chain.stop())

const hasCharges =
  (shop: SubscriptionShop, id: string, state: string, count = 1) =>
  async () =>
    (await chargesOf(shop, id)).filter((one) => one[1] === state).length >=
    count

type Sent = { method: string; params?: unknown }

/** A client whose requests pass through `request`. */
const clientOf = (request: (sent: Sent) => Promise<unknown>): Client =>
  createClient({
    chain: chain.chain,
    transport: custom({ request }, { retryCount: 0 }),
  })

const forward = (sent: Sent): Promise<unknown> =>
  chain.clients.public.request(sent as never)

test('a replica that is still before a period is asked again, and the period is charged', async () => {
  let oldBlock: bigint | undefined
  let answers = 0
  const client = clientOf(async (sent) => {
    if (sent.method !== 'eth_call' || oldBlock === undefined)
      return forward(sent)
    const [call, , ...rest] = Object(sent.params)
    const number = `0x${oldBlock.toString(16)}`
    // Catches up after two looks at the charge.
    if (++answers === 2) oldBlock = undefined
    return forward({ ...sent, params: [call, number, ...rest] })
  })
  const shop = await openSubscriptionShop(chain, { changes: { client } })
  const { id } = await shop.subscribe()
  await shop.workUntil(hasCharges(shop, id, 'captured'))
  oldBlock = await getBlockNumber(chain.clients.public, { cacheTime: 0 })
  await pass(chain, period)
  await shop.workUntil(
    async () => answers >= 2 && (await chargesOf(shop, id)).length === 2,
  )
  await shop.workUntil(hasCharges(shop, id, 'captured', 2))
  const { events } = await shop.orders.events()
  expect(events.filter(({ type }) => type === 'subscriptionPastDue')).toEqual(
    [],
  )
})
