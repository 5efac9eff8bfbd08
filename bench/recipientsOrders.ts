import { join } from 'node:path'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createOrders, type Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { type Address, createClient, custom } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { Row } from './compare.js'
import {
  acceptOrders,
  makeFolder,
  makePayers,
  type SignedOrder,
  signOrders,
} from './ordersShop.js'
import { sized } from './sized.js'
import { startDelayProxy } from './startServer.js'

const numOrders = sized(1_000, 10)

/** Orders of as many recipients against orders of one, the node 25 ms away. */
export async function benchRecipientsOrders(): Promise<Row[]> {
  const one = await measure(1)
  const many = await measure(numOrders)
  const shown = ({ accepted, fulfilled }: Times) =>
    `${(fulfilled / 1000).toFixed(1)} s (accepted after ${(accepted / 1000).toFixed(1)} s)`
  return [
    {
      name: `${numOrders} recipients with an order each, from accept to fulfil, +25 ms: ${shown(many)}`,
      peer: `3 times that of one recipient with ${numOrders}: ${shown(one)}`,
      ratio: (3 * one.fulfilled) / many.fulfilled,
      goal: 1,
      unit: 'time',
      sides: { own: many.fulfilled, peer: one.fulfilled, unit: 'ms' },
    },
  ]
}

/** Milliseconds until the last order was accepted, and fulfilled. */
type Times = { accepted: number; fulfilled: number }

async function measure(count: number): Promise<Times> {
  const chain = await startDevChain({ blockTime: 1 })
  const proxy = await startDelayProxy(chain.urls.http, 25)
  const folder = makeFolder()
  const file = join(folder.path, 'orders.db')
  const relayer = privateKeyToAccount(generatePrivateKey())
  const { address } = relayer
  await chain.clients.test.setBalance({ address, value: 10n ** 21n })
  const recipients = Array.from(
    { length: count },
    () => privateKeyToAccount(generatePrivateKey()).address,
  )
  const open = (url: string) =>
    openRelayed(chain, { url, file, relayer, recipients })
  try {
    // What is done before the clock runs need not be slow.
    const desk = open(chain.urls.http)
    const signed = await sign(desk, chain, recipients)
    await desk.close()
    const orders = open(proxy.url)
    const ending = new AbortController()
    const running = orders.run({ signal: ending.signal })
    const times = await time(orders, signed)
    ending.abort()
    await running
    await orders.close()
    return times
  } finally {
    proxy.stop()
    folder.remove()
    await chain.stop()
  }
}

function openRelayed(
  { chain, token }: DevChain,
  {
    url,
    file,
    relayer,
    recipients,
  }: {
    url: string
    file: string
    relayer: ReturnType<typeof privateKeyToAccount>
    recipients: readonly Address[]
  },
): Orders {
  const client = createReadClient({ url, chain })
  const transport = custom(client)
  return createOrders({
    store: sqliteStore({ file }),
    seal: 'none',
    tokens: [{ client, token }],
    wallets: [createClient({ account: relayer, chain, transport })],
    recipients,
    relayers: [relayer.address],
    policy: { capture: 'onAccept', fulfilAt: 'included', maxInFlight: 500 },
  })
}

async function sign(
  orders: Orders,
  chain: DevChain,
  recipients: readonly Address[],
): Promise<SignedOrder[]> {
  const payers = await makePayers(chain, 20)
  const each = numOrders / recipients.length
  const all: SignedOrder[] = []
  for (const recipient of recipients)
    all.push(
      ...(await signOrders(orders, payers, each, {
        recipient,
        primaryType: 'TransferWithAuthorization',
      })),
    )
  return all
}

async function time(
  orders: Orders,
  signed: readonly SignedOrder[],
): Promise<Times> {
  const begin = performance.now()
  await acceptOrders(orders, signed)
  const accepted = performance.now() - begin
  let after: Awaited<ReturnType<Orders['events']>>['cursor'] | undefined
  let fulfilled = 0
  while (fulfilled < signed.length) {
    const { events, cursor } = await orders.events({ after, limit: 200 })
    fulfilled += events.filter(({ type }) => type === 'fulfil').length
    after = cursor
    if (events.length === 0)
      await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { accepted, fulfilled: performance.now() - begin }
}
