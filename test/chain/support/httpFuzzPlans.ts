import fc from 'fast-check'
import { toJson } from '../../../src/core/toJson.js'
import {
  deepRoutes,
  hugeDigits,
  query,
  routes,
  target,
  wildIds,
} from './httpFuzzAddresses.js'
import {
  bentBody,
  change,
  changed,
  honestBody,
  noise,
  textTwists,
} from './httpFuzzBodies.js'
import type { Plan, SentBody } from './httpFuzzRequests.js'
import { buyerSite, type FuzzWorld, type Known } from './httpFuzzWorld.js'

/** What someone shows who may or may not be the right one. */
function authorization({
  known,
  keys,
}: FuzzWorld): fc.Arbitrary<string | undefined> {
  const token = fc.constantFrom(...known).map(({ token: text }) => text)
  return fc.oneof(
    fc.constant(undefined),
    token.map((text) => `Bearer ${text}`),
    token.map((text) => `Bearer ${text.toUpperCase()}`),
    token.map((text) => `Bearer ${text.slice(0, -1)}`),
    token.map((text) => `Bearer ${text}0`),
    token.map((text) => `Bearer ${text}, Bearer ${text}`),
    token.map((text) => `Basic ${btoa(`buyer:${text}`)}`),
    token.map((text) => text),
    fc.stringMatching(/^[0-9a-f]{64}$/).map((text) => `Bearer ${text}`),
    fc.constantFrom(...Object.values(keys)).map((key) => `Bearer ${key}`),
    fc.constantFrom('Bearer', 'Bearer ', '', 'null', 'Bearer undefined'),
    fc.constant(`Bearer ${'a'.repeat(20_000)}`),
    fc.string({ maxLength: 60 }),
  )
}

const types = [
  'application/json',
  'application/json; charset=utf-8',
  'application/json; charset=utf-16',
  'Application/JSON',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json, text/plain',
  'application/problem+json',
  'application/jsonp',
  ';',
  '',
]

const origins = [
  'https://shop.test',
  buyerSite,
  'https://evil.test',
  'null',
  'https://shop.test.evil.test',
  'http://shop.test',
  'https://shop.test:8443',
  'file://',
  '',
  '*',
]

const lastIds = ['', '0', '-1', '1', hugeDigits, 'x', '1\u00e9', '0x1', '1e3']

const preferred = [
  'wait=0',
  'wait=-1',
  'wait=',
  'wait=x',
  'respond-async',
  'wait = 0',
  'wait="0"',
]

/** Headers besides who asks; each there or not. */
function extraHeaders(
  world: FuzzWorld,
): fc.Arbitrary<readonly (readonly [string, string])[]> {
  const maybe = (name: string, value: fc.Arbitrary<string>) =>
    fc
      .option(value, { freq: 4, nil: undefined })
      .map((text) => (text === undefined ? [] : [[name, text] as const]))
  const id = fc.oneof(
    fc.constantFrom(...world.known).map((order) => order.id),
    fc.constantFrom(...wildIds.map((text) => text.replace(/[^ -ÿ]/g, 'x'))),
    fc.string({ maxLength: 140 }),
  )
  return fc
    .tuple(
      maybe('origin', fc.constantFrom(...origins)),
      maybe('idempotency-key', id),
      maybe('prefer', fc.constantFrom(...preferred)),
      maybe('last-event-id', fc.constantFrom(...lastIds)),
      maybe('accept', fc.constantFrom('text/html', '*/*', 'text/event-stream')),
      maybe('content-length', fc.constantFrom('0', '-1', '99999999', 'x')),
      maybe('x-forwarded-host', fc.constant('evil.test')),
      maybe('x-http-method-override', fc.constant('DELETE')),
      maybe('cookie', fc.constant('buyerToken=1')),
      maybe(
        'access-control-request-method',
        fc.constantFrom('POST', 'DELETE', 'GET'),
      ),
    )
    .map((all) => all.flat())
}

/** Anything anybody might send. */
export function anyPlan(world: FuzzWorld): fc.Arbitrary<Plan> {
  return fc
    .record({
      target: target(world),
      who: authorization(world),
      extra: extraHeaders(world),
      type: fc.oneof(
        { weight: 4, arbitrary: fc.constant('application/json') },
        { weight: 2, arbitrary: fc.constantFrom(undefined, ...types) },
      ),
      body: fc.oneof(noise, bentBody(honestBody(world))),
    })
    .map(({ target: { method, path }, who, extra, type, body }) => ({
      method,
      path,
      body,
      headers: [
        ...(who === undefined ? [] : [['authorization', who] as const]),
        ...(type === undefined ? [] : [['content-type', type] as const]),
        ...extra,
      ],
    }))
}

/** The order an address names; what its query names counts for events alone. */
function orderOf({ known }: FuzzWorld, path: string): Known | undefined {
  const [place = ''] = path.split('?')
  const named = place === '/merchant/events' ? path : place
  return known.find(({ id }) => named.includes(id))
}

/** Whether the one who asks may ask this. */
export function isRight(world: FuzzWorld, { path, headers }: Plan): boolean {
  const shown = headers.flatMap(([name, value]) =>
    name === 'authorization' ? [value] : [],
  )
  const order = orderOf(world, path)
  const isBuyer = shown.some((text) =>
    order ? text.toLowerCase().includes(order.token) : false,
  )
  const owner = (['a', 'b'] as const).find((name) =>
    shown.includes(`Bearer ${world.keys[name]}`),
  )
  const isMerchant =
    owner !== undefined && (order === undefined || order.owner === owner)
  return isBuyer || isMerchant
}

/** A plan by someone who may do it, all of it as it should be. */
export function rightPlan(world: FuzzWorld, honest = true): fc.Arbitrary<Plan> {
  const own = world.known.filter(({ owner }) => owner === 'a')
  const json = ['content-type', 'application/json'] as const
  return fc
    .record({
      route: fc.oneof(
        fc.constantFrom(...routes),
        fc.constantFrom(...deepRoutes),
      ),
      order: fc.constantFrom(...own),
      tail: query(world),
      bent: bentBody(honestBody(world)),
      changes: fc.array(change, { maxLength: honest ? 2 : 0 }),
      twist: fc.constantFrom(...textTwists),
      extra: extraHeaders(world),
    })
    .map(
      ({
        route: [method, path],
        order,
        tail,
        bent,
        changes,
        extra,
        ...rest
      }) => {
        const isMerchant = path.startsWith('/merchant')
        const key = isMerchant ? world.keys.a : order.token
        const value = ownBody(world, path, order)
        const text =
          value === undefined
            ? undefined
            : rest.twist(
                toJson(changes.reduce<unknown>(changed, value)) ?? '{}',
              )
        const body: SentBody =
          method === 'GET'
            ? { kind: 'none' }
            : text === undefined
              ? bent
              : { kind: 'text', text }
        return {
          method,
          path: `${path.replace('{}', () => order.id)}${method === 'GET' ? tail : ''}`,
          headers: [
            ['authorization', `Bearer ${key}`] as const,
            ...(method === 'GET' ? [] : [json]),
            ...extra.filter(([name]) => name !== 'origin'),
          ],
          body,
        }
      },
    )
}

function ownBody(
  { recipients }: FuzzWorld,
  path: string,
  { signed, cancellation }: Known,
): unknown {
  if (path.endsWith('/payment')) return signed
  if (path.endsWith('/cancellation')) return cancellation
  if (path === '/merchant/orders')
    return {
      amount: '1.50',
      recipient: recipients.a,
      window: '600',
      metadata: { cart: [1, { sku: 'x' }] },
    }
  if (path.endsWith('/reauthorize')) return { window: '900' }
  return {}
}
