import { createHash } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { createMerchantClient } from 'countersign/client'
import { startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliShop, openCliShop, openServer } from '../support/cliShop.js'
import { fundedAccount } from '../support/desk.js'
import { pay } from '../support/shop.js'

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain)
  const orders = openServer(shop)
  const buyer = await fundedAccount(chain, 100_000_000n)
  const { payment } = await orders.draft({ orderId: 'stored', amount: '12.50' })
  const signed = await pay(buyer, payment)
  await orders.accept({ orderId: 'stored', payment: signed })
  await orders.draft({ orderId: 'drafted', amount: '1' })
  await orders.close()
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

type Dashboard = { origin: string; key: string }

/** Runs the command, and calls `work` while it serves. */
async function withDashboard(
  args: readonly string[],
  work: (dashboard: Dashboard) => Promise<void>,
): Promise<void> {
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  const { code } = await shop.run(['dashboard', ...args, '--json'], {
    stdout: { write },
    untilInterrupted: async () => {
      const { origin, hash } = new URL(JSON.parse(printed).url)
      await work({ origin, key: hash.slice('#key='.length) })
    },
  })
  expect(code).toBe(0)
}

const clientOf = ({ origin, key }: Dashboard) =>
  createMerchantClient({ url: `${origin}/api`, key, retries: 0 })

/** Returns the status of a request with headers that `fetch` does not allow. */
const statusWith = (origin: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(`${origin}/`, { headers }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
      .on('error', reject)
      .end()
  })

const bytes = () =>
  createHash('sha256').update(readFileSync(shop.file)).digest('hex')

test('with the key, dashboard serves orders, health and events, and writes nothing', async () => {
  const before = bytes()
  await withDashboard([], async (dashboard) => {
    const merchant = clientOf(dashboard)
    const { value } = await merchant.list().next()
    expect(value?.orders.map(({ id }) => id)).toEqual(['drafted', 'stored'])
    expect((await merchant.health()).chains).toHaveLength(1)
    const ending = new AbortController()
    const seen: string[] = []
    for await (const { type } of merchant.follow({
      after: '0',
      signal: ending.signal,
    })) {
      seen.push(type)
      if (seen.length === 3) break
    }
    expect(seen).toEqual(['drafted', 'accepted', 'drafted'])
    for (const act of ['capture', 'void', 'reauthorize'] as const)
      await expect(merchant[act]({ orderId: 'stored' })).rejects.toMatchObject({
        reason: 'operationForbidden',
        status: 403,
      })
    await expect(merchant.suspend()).rejects.toMatchObject({ status: 403 })
  })
  expect(bytes()).toBe(before)
})

test('without the key, or with a wrong one, dashboard answers 401', async () => {
  await withDashboard([], async (dashboard) => {
    const { origin, key } = dashboard
    expect(key).toMatch(/^[\w-]{43}$/)
    for (const given of [undefined, `${key}x`, key.slice(1)]) {
      const headers = given ? { authorization: `Bearer ${given}` } : undefined
      for (const path of ['merchant/orders', 'merchant/health', 'receipts/1/2'])
        expect(
          (await fetch(`${origin}/api/${path}`, headers ? { headers } : {}))
            .status,
        ).toBe(401)
    }
    const page = await fetch(origin)
    expect(page.status).toBe(200)
    expect(await page.text()).not.toContain(key)
  })
})

test('dashboard refuses other host names, and pages of other origins', async () => {
  await withDashboard([], async ({ origin }) => {
    const { port } = new URL(origin)
    expect(await statusWith(origin, {})).toBe(200)
    expect(await statusWith(origin, { host: `localhost:${port}` })).toBe(200)
    expect(await statusWith(origin, { host: `evil.example:${port}` })).toBe(421)
    expect(await statusWith(origin, { host: '127.0.0.1' })).toBe(421)
    expect((await fetch(`${origin}//evil.example/`)).status).toBe(404)
    expect(await statusWith(origin, { origin })).toBe(200)
    expect(await statusWith(origin, { origin: 'https://evil.example' })).toBe(
      403,
    )
    expect(await statusWith(origin, { 'sec-fetch-site': 'cross-site' })).toBe(
      403,
    )
  })
})

test('with --write dashboard voids and suspends, and refunds only up to --refunds', async () => {
  await withDashboard(['--write', '--refunds', '5.00'], async (dashboard) => {
    const merchant = clientOf(dashboard)
    const { order } = await merchant.void({ orderId: 'stored' })
    expect(order.state).toBe('voided')
    await merchant.suspend()
    await merchant.resume()
  })
  await withDashboard(['--write'], async (dashboard) => {
    const refund = clientOf(dashboard).refund({
      orderId: 'stored',
      refundId: 'one',
    })
    await expect(refund).rejects.toMatchObject({ reason: 'refundForbidden' })
  })
})

test.each([
  [['--refunds', '5'], '--refunds needs --write.'],
  [
    ['--write', '--refunds', 'all'],
    '--refunds must be an amount such as 50.00.',
  ],
  [['--port', '65536'], '--port must be a number from 0 to 65535.'],
])('dashboard %j is refused', async (args, words) => {
  expect(await shop.run(['dashboard', ...args])).toEqual({
    code: 2,
    stdout: '',
    stderr: `${words}\n`,
  })
})
