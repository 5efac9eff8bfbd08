import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, test } from 'vitest'
import { fundedAccount } from '../../../chain/support/desk.js'
import { startNextServer } from '../../../chain/support/nextServer.js'
import {
  askUrl,
  keepPaymentFor,
  navigation,
} from '../../../chain/support/paywallDesk.js'
import {
  balanceOf,
  chain,
  payingFetch,
  price,
  settlementOf,
  signFor,
} from '../../../chain/support/x402Desk.js'

const key = generatePrivateKey()
const { address } = privateKeyToAccount(key)
await chain.clients.test.setBalance({ address, value: 10n ** 18n })
const server = await startNextServer({
  CHAIN_URL: chain.urls.http,
  TOKEN: chain.token,
  MERCHANT_KEY: key,
})
afterAll(() => server.stop())
const url = `${server.url}/weather/ulm?day=2`

test('a running Next server sells the answer of a route handler to a stock client', async () => {
  const { account, fetch } = await payingFetch()
  const response = await fetch(url)
  expect(await response.json()).toMatchObject({
    city: 'ulm',
    day: '2',
    payer: account.address.toLowerCase(),
  })
  expect(response.headers.get('cache-control')).toBe('private, no-store')
  expect(settlementOf(response)).toMatchObject({ success: true })
  expect(await balanceOf(account.address)).toBe(0n)
})

test('a running Next server gives the same answer to the same payment', async () => {
  const account = await fundedAccount(chain, 2n * price)
  const header = await signFor(account, await fetch(url))
  const headers = { 'PAYMENT-SIGNATURE': header }
  const first = await fetch(url, { headers })
  const again = await fetch(url, { headers })
  expect(first.status).toBe(200)
  expect(await again.text()).toBe(await first.text())
  expect(settlementOf(again)).toEqual(settlementOf(first))
  expect(await balanceOf(account.address)).toBe(price)
})

test.each([
  ['notFound()', 'atlantis', 404, null],
  ['redirect()', 'bonn', 307, '/weather/berlin'],
])(
  'a running Next server answers %s of a handler as without a gate, and nothing is taken',
  async (_, city, status, location) => {
    const account = await fundedAccount(chain, price)
    const address = `${server.url}/weather/${city}`
    const header = await signFor(account, await fetch(address))
    const response = await fetch(address, {
      headers: { 'PAYMENT-SIGNATURE': header },
      redirect: 'manual',
    })
    expect(response.status).toBe(status)
    expect(response.headers.get('location')).toBe(location)
    expect(await balanceOf(account.address)).toBe(price)
  },
)

test('a running Next server shows browsers the page, and with its cookie what was paid for', async () => {
  const ask = askUrl(`${server.url}/weather/ulm?day=3`)
  const account = await fundedAccount(chain, 2n * price)
  const page = await ask(navigation)
  expect(page.status).toBe(402)
  expect(await page.text()).toMatch(/<script type="module">.{1000}/)
  const { headers } = await keepPaymentFor(account, ask)
  const first = await ask(headers)
  const text = await first.text()
  expect(JSON.parse(text)).toMatchObject({ city: 'ulm', day: '3' })
  expect(await (await ask(headers)).text()).toBe(text)
  expect(await balanceOf(account.address)).toBe(price)
})
