import { createX402Gate } from 'countersign/x402'
import { expect, test } from 'vitest'
import { fundedAccount } from '../../support/desk.js'
import {
  balanceOf,
  chain,
  openGateShop,
  price,
  requiredBy,
  signFor,
} from '../../support/x402Desk.js'
import { payFor, resource } from '../../support/x402Paid.js'

const shop = await openGateShop({
  offers: { stream: { amount: '0.01', flow: 'upfront', stream: true } },
})

/** How long caches may keep it, as RFC 9213 and vendors name it. */
const cacheFields = {
  'cache-control': 'public, max-age=600',
  'CDN-Cache-Control': 'max-age=600',
  'Cloudflare-CDN-Cache-Control': 'max-age=600',
  'Netlify-CDN-Cache-Control': 'max-age=600',
  'Vercel-CDN-Cache-Control': 'max-age=600',
  'Surrogate-Control': 'max-age=600',
  'Edge-Control': 'max-age=600',
  'X-Accel-Expires': '600',
  Expires: 'Thu, 01 Jan 2037 00:00:00 GMT',
}

test.each(['work', 'upfront', 'stream'])(
  'no cache may keep a paid answer to %s, whatever the handler says',
  async (offer) => {
    const { send } = await payFor(
      shop,
      offer,
      () => new Response('goods', { headers: { ...cacheFields, etag: '"1"' } }),
    )
    const answer = await send()
    expect(await answer.text()).toBe('goods')
    const about = [...answer.headers].filter(([name]) =>
      /control|expires/i.test(name),
    )
    expect(about).toEqual([['cache-control', 'private, no-store']])
    expect(answer.headers.get('etag')).toBe('"1"')
  },
)

test('HEAD gets the price and takes nothing, also with a payment', async () => {
  const { send, account, header } = await payFor(
    shop,
    'work',
    () => new Response('goods'),
  )
  const sold = shop.gate.protect('work', () => new Response('goods'))
  const headers = { 'PAYMENT-SIGNATURE': header }
  const head = await sold(new Request(resource, { method: 'HEAD', headers }))
  expect([head.status, requiredBy(head).error]).toEqual([
    402,
    'Payment required',
  ])
  expect(await balanceOf(account.address)).toBe(price)
  expect((await send()).status).toBe(200)
})

test('a range is not sold: the same payment buys the whole', async () => {
  const account = await fundedAccount(chain, price)
  let runs = 0
  const sold = shop.gate.protect('work', () => {
    runs++
    return new Response('goods')
  })
  const header = await signFor(account, await sold(new Request(resource)))
  const paying = { 'PAYMENT-SIGNATURE': header }
  const part = await sold(
    new Request(resource, { headers: { ...paying, range: 'bytes=0-3' } }),
  )
  expect([part.status, await part.json()]).toEqual([
    400,
    { error: 'range_not_sold' },
  ])
  expect([runs, await balanceOf(account.address)]).toEqual([0, price])
  const whole = await sold(new Request(resource, { headers: paying }))
  expect([whole.status, await whole.text()]).toEqual([200, 'goods'])
})

test('a body that was read before the gate is an error that says so', async () => {
  const sold = shop.gate.protect('work', () => new Response('goods'))
  const request = new Request(resource, { method: 'POST', body: 'ask' })
  await request.text()
  await expect(sold(request)).rejects.toThrow(
    'request must be a request whose body is unread, not an object. Put the gate before any middleware that reads the body.',
  )
})

test('a resource that is no text is an error of the program', async () => {
  const { orders } = shop
  const gate = createX402Gate({
    orders,
    offers: { work: { amount: '0.01' } },
    resource: (async () => resource) as never,
  })
  const sold = gate.protect('work', () => new Response('goods'))
  await expect(sold(new Request(resource))).rejects.toThrow('resource must be')
})
