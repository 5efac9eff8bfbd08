import { InvalidFieldError } from 'countersign'
import {
  createPages,
  createPaywall,
  type PagesParameters,
  type PaywallParameters,
} from 'countersign/pages'
import { expect, test } from 'vitest'
import {
  baseOrders,
  buyerToken,
  dataOf,
  openPages,
} from '../support/openPages.js'

const orders = baseOrders()
const create = (parameters: object) =>
  createPages(orders, {
    payments: '/payments',
    name: 'Roastery',
    ...parameters,
  } as PagesParameters)

test.each([
  ['name', ''],
  ['name', 7],
  ['payments', undefined],
  ['payments', 'payments'],
  ['payments', '/payments/'],
  ['payments', 'ftp://shop.example'],
  ['payments', 'https://key@shop.example/payments'],
  ['payments', 'https://shop.example/payments?key=1'],
  ['basePath', 'checkout'],
  ['basePath', '/checkout/'],
  ['url', 'shop.example'],
  ['logo', 'https://elsewhere.example/logo.svg'],
  ['logo', 'javascript:alert(1)'],
  ['logo', 'data:text/html,hi'],
  ['accent', 'red'],
  ['accent', '#fff;}body{'],
  ['terms', 'javascript:alert(1)'],
  ['language', 'fr'],
  ['returnUrls', 'https://shop.example'],
  [
    'returnUrls[1]',
    ['https://shop.example', 'javascript:alert(1)'],
    'returnUrls',
  ],
  ['frameAncestors[0]', ['*'], 'frameAncestors'],
  ['frameAncestors[0]', ['https://shop.example/a'], 'frameAncestors'],
  ['frameAncestors[0]', ["'self'; script-src *"], 'frameAncestors'],
  ['parameters', true, 'returnUrl'],
])('%s %j is refused by its name', (field, value, name = field) => {
  let thrown: unknown
  try {
    create({ [name]: value })
  } catch (error) {
    thrown = error
  }
  expect(thrown).toBeInstanceOf(InvalidFieldError)
  expect(Object(thrown).details.field).toBe(field)
})

test.each([
  ['name', undefined],
  ['logo', 'https://elsewhere.example/logo.svg'],
  ['accent', 'red'],
  ['terms', 'javascript:alert(1)'],
  ['language', 'fr'],
  ['frameAncestors[0]', ['*'], 'frameAncestors'],
  ['languages.fr.payTo', { fr: {} }, 'languages'],
  ['parameters', '/payments', 'payments'],
])(
  'a paywall whose %s is %j is refused by its name',
  (field, value, name = field) => {
    const given = { name: 'Daily News', [name]: value } as PaywallParameters
    expect(() => createPaywall(given)).toThrow(
      expect.objectContaining({
        name: 'InvalidFieldError',
        details: expect.objectContaining({ field }),
      }),
    )
  },
)

test('orders that createOrders did not make are refused', () => {
  const stranger = {} as typeof orders
  expect(() =>
    createPages(stranger, { payments: '/payments', name: 'Roastery' }),
  ).toThrow(InvalidFieldError)
})

test('a link has the token behind the # and nowhere else', () => {
  const { pages } = openPages({ url: 'https://shop.example/eu/' })
  const link = new URL(pages.payUrl({ orderId: 'a/b ü', buyerToken }))
  expect(link.hash).toBe(`#${buyerToken}`)
  expect(link.href.replace(link.hash, '')).toBe(
    'https://shop.example/eu/pay/a%2Fb%20%C3%BC',
  )
  const { pages: near } = openPages({ basePath: '/checkout' })
  expect(near.payUrl({ orderId: 'one', buyerToken })).toBe(
    `/checkout/pay/one#${buyerToken}`,
  )
})

test('no error of a link shows the token', () => {
  const { pages } = openPages()
  const secret = `${buyerToken}0`
  for (const given of [
    { orderId: 'one', buyerToken: secret },
    { orderId: '', buyerToken },
    { orderId: 'one', buyerToken, returnUrl: 'https://evil.example' },
  ])
    try {
      pages.payUrl(given)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(InvalidFieldError)
      expect(String(error)).not.toContain(buyerToken)
    }
})

const allowed = ['https://shop.example/thanks/', 'https://shop.example/done']

test.each([
  'https://shop.example/thanks/',
  'https://shop.example/thanks/7?from=pay#top',
  'https://shop.example/done?order=7',
])('a link may lead back to %s', async (returnUrl) => {
  const { pages, ask } = openPages({ returnUrls: allowed })
  const link = pages.payUrl({ orderId: 'one', buyerToken, returnUrl })
  const path = link.replace(/#.*/, '')
  expect(await dataOf(ask(path))).toMatchObject({ returnUrl })
})

test.each([
  'https://shop.example/',
  'https://shop.example/thanks',
  'https://shop.example/thanks/../admin',
  'https://shop.example/done/more',
  'http://shop.example/done',
  'https://shop.example:8443/done',
  'https://shop.example.evil.example/done',
  'https://user@shop.example/done',
  'https://evil.example/https://shop.example/done',
  '//shop.example/done',
  '/done',
  'javascript:alert(1)',
])('no link leads back to %s', async (returnUrl) => {
  const { pages, ask } = openPages({ returnUrls: allowed })
  const query = encodeURIComponent(returnUrl)
  expect((await ask(`/pay/one?return=${query}`)).status).toBe(400)
  expect(() => pages.payUrl({ orderId: 'one', buyerToken, returnUrl })).toThrow(
    InvalidFieldError,
  )
})

test('what the shop is called is text in the page, whatever it is', async () => {
  const name = '"><script src=x></script>$&{name}'
  const { ask } = openPages({ name })
  const html = await (await ask('/pay/one')).text()
  expect(html).not.toContain('<script src=x>')
  expect(await dataOf(ask('/pay/one'))).toMatchObject({ name })
})
