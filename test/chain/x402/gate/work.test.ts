import { memoryStore, type PaymentStore } from 'countersign/store'
import { afterEach, expect, test, vi } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const address = 'https://shop.example/work'

afterEach(() => vi.unstubAllGlobals())

/** A gate whose writes and calls of the node are counted. */
async function openCounted(
  flow: 'work' | 'upfront',
  given: Parameters<typeof openGateShop>[1] = {},
) {
  const writes: string[] = []
  const kept = memoryStore()
  const store: PaymentStore = {
    ...kept,
    write: (work, options) => {
      writes.push('write')
      return kept.write(work, options)
    },
    takeLease: (wanted) => {
      writes.push(`lease ${wanted.key.split(':')[0]}`)
      return kept.takeLease(wanted)
    },
  }
  const shop = await openGateShop({}, { store, ...given })
  const sold = shop.gate.protect(flow, () => new Response('done'))
  const methods: string[] = []
  const real = fetch
  const pay = async (header: string): Promise<Response> => {
    vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) => {
      const asked = [JSON.parse(String(init?.body))].flat()
      methods.push(...asked.map(({ method }) => String(method)))
      return real(input, init)
    })
    writes.length = 0
    methods.length = 0
    return sold(
      new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }),
    ).finally(() => vi.unstubAllGlobals())
  }
  const asked = () => sold(new Request(address))
  return { shop, writes, methods, pay, asked }
}

test.each([
  // Accepted; kept, requested and recorded; settled.
  ['work', 3],
  // Accepted and requested, recorded, settled, claimed, kept.
  ['upfront', 5],
] as const)(
  'a paid request for %s needs %d writes, and one rehearsal while no block comes',
  async (flow, most) => {
    const { shop, writes, methods, pay, asked } = await openCounted(flow)
    const payer = await fundedAccount(chain, 2n * price)
    await pay(await signFor(payer, await asked()))
    const header = await signFor(payer, await asked())
    const response = await pay(header)
    expect(response.status).toBe(200)
    expect(writes.filter((one) => one === 'write')).toHaveLength(most)
    expect(methods.filter((one) => one === 'eth_call')).toHaveLength(1)
    await shop.orders.close()
  },
)

test('the submitter is taken while the payment is judged, and kept for the next one', async () => {
  const { shop, writes, pay, asked } = await openCounted('work')
  const payer = await fundedAccount(chain, price)
  await pay(await signFor(payer, await asked()))
  const lease = writes.indexOf('lease submitter')
  expect(lease).toBeGreaterThanOrEqual(0)
  expect(lease).toBeLessThan(writes.indexOf('write'))
  await shop.orders.close()
})

test('a paid request does not wait for a polling interval', async () => {
  const { shop, pay, asked } = await openCounted('work', {
    policy: { pollingInterval: 600_000 },
  })
  const payer = await fundedAccount(chain, price)
  const response = await pay(await signFor(payer, await asked()))
  expect(response.status).toBe(200)
  expect(settlementOf(response)).toMatchObject({ success: true })
  await shop.orders.close()
})

test('payments that come at once are judged and accepted together, each by itself', async () => {
  const { shop, writes, methods } = await openCounted('work')
  const sold = shop.gate.protect('work', () => new Response('done'))
  const count = 40
  const payers = await Promise.all(
    // Every fourth has too little.
    Array.from({ length: count }, (_, at) =>
      fundedAccount(chain, at % 4 === 3 ? price - 1n : price),
    ),
  )
  const asked = await sold(new Request(address))
  const headers = await Promise.all(payers.map((one) => signFor(one, asked)))
  const real = fetch
  vi.stubGlobal('fetch', (input: string | URL, init?: RequestInit) => {
    const sent = [JSON.parse(String(init?.body))].flat()
    methods.push(...sent.map(({ method }) => String(method)))
    return real(input, init)
  })
  writes.length = 0
  const responses = await Promise.all(
    headers.map((header) =>
      sold(new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } })),
    ),
  )
  expect(responses.map(({ status }) => status)).toEqual(
    Array.from({ length: count }, (_, at) => (at % 4 === 3 ? 402 : 200)),
  )
  // Alone, each would need three writes and one rehearsal at least.
  expect(writes.filter((one) => one === 'write').length).toBeLessThan(count)
  expect(methods.filter((one) => one === 'eth_call').length).toBeLessThan(count)
  expect(await balanceOf(shop.recipient)).toBe(30n * price)
  await shop.orders.close()
})
