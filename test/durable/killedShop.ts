/** A shop in a Durable Object that takes one step of a sale a request. */
import { encodePayment, signPayment } from 'countersign'
import { type DurableStorage, durableObjectStore } from 'countersign/durable'
import { createOrders, type Orders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { type PaymentStore, sealer } from 'countersign/store'
import { createClient, custom, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createStops, type Stops } from './stops.js'
import type { Answer, Asked, Shown } from './types.js'

const amount = '1.25'
const send = globalThis.fetch

type ObjectStorage = DurableStorage & { sync(): Promise<void> }

export class KilledShop {
  readonly #storage: ObjectStorage

  constructor({ storage }: { storage: ObjectStorage }) {
    this.#storage = storage
  }

  async fetch(request: Request): Promise<Response> {
    const asked = (await request.json()) as Asked
    const stops = createStops(asked.stop, () => this.#storage.sync())
    const opened = openShop(asked, this.#storage, stops)
    const { store, orders, payer, chainId } = opened
    try {
      if (asked.step === 'writeInRead') await writeInRead(store)
      if (asked.step === 'readAgain')
        return Response.json(await store.read((it) => it.getValue('during')))
      if (asked.step === 'show')
        return Response.json(await show(orders, String(asked.orderId)))
      const told = await takeStep(orders, asked, { payer, chainId })
      return Response.json({ ...told, passed: stops.passed } satisfies Answer)
    } finally {
      await orders.close()
    }
  }
}

/** Writes while an earlier read is open, and both wait for the disk. */
async function writeInRead(store: PaymentStore): Promise<void> {
  await store.read(() =>
    store.write((it) => it.setValue('during', { isThere: true })),
  )
}

type Buyer = { payer: ReturnType<typeof openBuyer>; chainId: number }

async function takeStep(
  orders: Orders,
  { step, orderId = '', payment: encoded, token }: Asked,
  { payer, chainId }: Buyer,
): Promise<Omit<Answer, 'passed'>> {
  switch (step) {
    case 'draft': {
      const from = payer.account.address
      const { order, payment } = await orders.draft({ amount, payer: from })
      const signed = await signPayment(payer, {
        payment: { ...payment, message: { ...payment.message, from } },
        expect: { chainId, token, to: order.recipient, amount },
      })
      const told = { orderId: order.id, payment: encodePayment(signed) }
      return { ...told, result: order.state }
    }
    case 'accept': {
      const verdict = await orders.accept({ orderId, payment: encoded })
      return { result: verdict.ok ? 'ok' : verdict.reason }
    }
    case 'capture':
      return { result: (await orders.capture({ orderId })).status }
    case 'refund': {
      const wanted = { orderId, refundId: 'one', amount: '0.75' }
      const verdict = await orders.refund(wanted)
      if (!verdict.ok) return { result: verdict.reason }
      return { result: await work(orders, orderId, 'succeeded') }
    }
    default:
      return { result: await work(orders, orderId, 'fulfilled') }
  }
}

/** Works until the order is fulfilled, or refunded too. */
async function work(
  orders: Orders,
  orderId: string,
  until: 'fulfilled' | 'succeeded',
): Promise<string> {
  const stop = new AbortController()
  const running = orders.run({ signal: stop.signal, concurrency: 1 })
  let found = ''
  for (let looks = 0; looks < 1_000 && found !== until; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const { events, refunds } = await show(orders, orderId)
    const isFulfilled = events.includes('fulfil')
    found = until === 'fulfilled' && isFulfilled ? until : String(refunds[0])
  }
  stop.abort()
  await running
  return found
}

async function show(orders: Orders, orderId: string): Promise<Shown> {
  const { state, refunds } = await orders.get({ orderId })
  const { events } = await orders.events({ orderId })
  return {
    state,
    refunds: refunds.map((refund) => refund.state),
    events: events.map(({ type }) => type),
  }
}

function openShop(
  { url, token, merchant, payer }: Asked,
  storage: ObjectStorage,
  stops: Stops,
): { store: PaymentStore; orders: Orders } & Buyer {
  const chain = defineChain({
    id: 31337,
    name: 'Development',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  })
  globalThis.fetch = stops.passNode(send)
  const client = createReadClient({ url, chain })
  const request = (asked: never) => client.request(asked)
  const store = stops.passStore(durableObjectStore(stops.passStorage(storage)))
  const orders = createOrders({
    store,
    seal: sealer({
      keys: { test: Uint8Array.from({ length: 32 }, (_, at) => at * 7) },
      current: 'test',
    }),
    tokens: [{ client, token }],
    wallets: [
      createClient({
        account: privateKeyToAccount(merchant),
        chain,
        transport: custom({ request }, { retryCount: 0 }),
      }),
    ],
    policy: { pollingInterval: 50, fulfilAt: 'included', lease: 1_500 },
  })
  const buyer = openBuyer(payer, chain, url)
  return { store, orders, payer: buyer, chainId: chain.id }
}

function openBuyer(
  key: Asked['payer'],
  chain: ReturnType<typeof defineChain>,
  url: string,
) {
  const account = privateKeyToAccount(key)
  return createClient({ account, chain, transport: http(url) })
}

const worker = {
  /** The path names the object. */
  fetch: (
    request: Request,
    {
      SHOPS,
    }: {
      SHOPS: {
        idFromName(name: string): unknown
        get(id: unknown): { fetch(request: Request): Promise<Response> }
      }
    },
  ): Promise<Response> =>
    SHOPS.get(SHOPS.idFromName(new URL(request.url).pathname)).fetch(request),
}

// biome-ignore lint/style/noDefaultExport: workers are found by it
export default worker
