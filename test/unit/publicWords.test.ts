import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openStub } from './support/httpStub.js'
import { publicNames } from './support/publicNames.js'

/** Words that the glossary excludes, and that stand for something else here. */
const exceptions: Record<string, string> = {
  authorization: 'the name of a payment flow on the wire of x402',
  forkUrl: 'as anvil names it: the chain that a local one begins from',
  checkout:
    'the kind of payments that go through the checkout contract, as its entry',
  mostOpen: 'of payments of a payer that are open',
  notOpen: 'of an order or subscription, as the glossary says',
  onOpen: 'of a stream, as EventSource names it',
  openApi: 'the standard is called OpenAPI',
  openTelemetry: 'the standard is called OpenTelemetry',
  permitOpen: 'of a permit, as the glossary says',
  openTransactions: 'transactions in flight, in the health report',
  requestedByCustomer:
    "the reason of Stripe's refunds, for books that have both",
  WebhookPayload: 'as Standard Webhooks names the body',
  scopeKey: 'as wagmi names it: a part of the key of a query',
  'PaymentStore.open': 'opens a database',
  "ChannelState 'open'": 'of a channel that takes requests',
  isHeld: 'as ChannelLockStorage of @x402/evm names it',
  "PermitState 'open'": 'of a permit, as the glossary says',
  'Sealer.open': 'opens what `seal` closed',
}

/** Of `mostOpen`: most, open. */
const wordsOf = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(Boolean)

const table = readFileSync('docs/glossary.md', 'utf8')
  .split('\n| Word | Not |\n')[1]
  ?.split('\n\n')[0]
const excluded = [...(table ?? '').matchAll(/^\|[^|]+\|([^|]+)\|/gm)].flatMap(
  ([, cell = '']) => [...cell.matchAll(/`(?<text>[\w. ]+)`(?<alone> alone)?/g)],
)

function isExcluded(name: string, place: string): boolean {
  const isMember = place.endsWith(`.${name}`)
  return excluded.some(({ groups }) => {
    const { text = '', alone }: { text?: string; alone?: string } = groups ?? {}
    if (text.includes('.')) return place === text
    if (alone) return name === text && !isMember
    return ` ${wordsOf(name).join(' ')} `.includes(` ${text} `)
  })
}

async function namesOfRoutes(): Promise<{ name: string; place: string }[]> {
  const answer = await openStub()('/payments/openapi.json')
  const { paths, components } = await answer.json()
  return [
    ...Object.keys(paths).map((path) => ({ name: path, place: path })),
    ...Object.keys(components.schemas).map((name) => ({ name, place: name })),
  ]
}

test('the glossary excludes words, and this test reads them', () => {
  expect(excluded.length).toBeGreaterThan(20)
  expect(isExcluded('wrongSender', 'wrongSender')).toBe(true)
  expect(isExcluded('checkout', 'checkout')).toBe(true)
  expect(isExcluded('checkoutCall', 'checkoutCall')).toBe(false)
  expect(isExcluded('resume', 'Subscriptions.resume')).toBe(true)
  expect(isExcluded('resume', 'Orders.resume')).toBe(false)
})

test('no public name, reason, event, route or schema has a word that the glossary excludes', async () => {
  const names = [...publicNames(), ...(await namesOfRoutes())]
  expect(names.map(({ place }) => place)).toEqual(
    expect.arrayContaining([
      'OrderEventData.captured',
      "OrderState 'drafted'",
      'Orders.suspend',
      'SignedPayment',
      '/merchant/orders/{orderId}/capture',
    ]),
  )
  const found = names
    .filter(({ name, place }) => isExcluded(name, place))
    .filter(({ name, place }) => !exceptions[name] && !exceptions[place])
    .map(({ place }) => place)

  expect([...new Set(found)].sort()).toEqual([])
})

test('each exception is a name that exists and that the glossary excludes', async () => {
  const names = [...publicNames(), ...(await namesOfRoutes())]
  const needed = names
    .filter(({ name, place }) => isExcluded(name, place))
    .flatMap(({ name, place }) => [name, place])
  expect(
    Object.keys(exceptions).filter((name) => !needed.includes(name)),
  ).toEqual([])
})
