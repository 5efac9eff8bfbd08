import fc from 'fast-check'
import { toJson } from '../../../src/core/toJson.js'
import { base, buyerSite, type FuzzWorld, type Known } from './httpFuzzWorld.js'

export type SentBody =
  | { kind: 'none' }
  | { kind: 'text'; text: string }
  | { kind: 'bytes'; bytes: Uint8Array<ArrayBuffer> }
  /** So many pieces of so many bytes; `broken` where it ends in a fault. */
  | { kind: 'pieces'; count: number; size: number; broken: boolean }

/** A request, as it is written down when it finds something. */
export type Plan = {
  method: string
  path: string
  headers: readonly (readonly [string, string])[]
  body: SentBody
}

/** Nothing where no client could send such a request. */
export function requestOf({
  method,
  path,
  headers,
  body,
}: Plan): Request | undefined {
  const mayHaveBody = !/^(get|head)$/i.test(method)
  try {
    const sent = new Headers()
    for (const [name, value] of headers) sent.append(name, value)
    const init: RequestInit & { duplex: 'half' } = {
      method,
      headers: sent,
      duplex: 'half',
    }
    // What a text says of itself would stand in for a content type left out.
    if (mayHaveBody && body.kind !== 'none') init.body = streamOf(body)
    return new Request(`${base}${path}`, init)
  } catch {
    return undefined
  }
}

function streamOf(body: Exclude<SentBody, { kind: 'none' }>): BodyInit {
  if (body.kind === 'text') return new TextEncoder().encode(body.text)
  if (body.kind === 'bytes') return body.bytes
  let left = body.count
  return new ReadableStream<Uint8Array>({
    pull: (controller) => {
      if (left-- > 0) controller.enqueue(new Uint8Array(body.size).fill(0x20))
      else if (body.broken) controller.error(new Error('gone'))
      else controller.close()
    },
  })
}

const wildIds = [
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  '..',
  '.',
  '%2e%2e',
  '%2F',
  '..%2f..%2fmerchant%2forders',
  '%00',
  '%0d%0aset-cookie:x=1',
  '%ff%fe',
  '%',
  '%zz',
  '%ED%A0%80',
  'null',
  'undefined',
  '0',
  '-1',
  '1e309',
  "'%20or%201=1--",
  '{orderId}',
  '*',
  'äöü',
  '%F0%9F%92%A9',
  '\u202e',
  'a'.repeat(128),
  'a'.repeat(129),
  'a'.repeat(9_000),
  '%41',
  'x;y=z',
  'x?y',
  'x#y',
]

/** An order's place in an address: mostly one there is. */
function segment({ known }: FuzzWorld): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom(...known).map(({ id }) => id) },
    { weight: 1, arbitrary: fc.stringMatching(/^[0-9a-f]{32}$/) },
    { weight: 2, arbitrary: fc.constantFrom(...wildIds) },
    { weight: 1, arbitrary: fc.webSegment() },
  )
}

/** Every route there is, by the method it has. */
export const routes: readonly (readonly [string, string])[] = [
  ['GET', '/orders/{}'],
  ['GET', '/orders/{}/payment'],
  ['POST', '/orders/{}/payment'],
  ['GET', '/orders/{}/cancellation'],
  ['POST', '/orders/{}/cancellation'],
  ['GET', '/orders/{}/events'],
  ['POST', '/merchant/orders'],
  ['GET', '/merchant/orders'],
  ['GET', '/merchant/orders/{}'],
  ['POST', '/merchant/orders/{}/capture'],
  ['POST', '/merchant/orders/{}/void'],
  ['POST', '/merchant/orders/{}/reauthorize'],
  ['POST', '/merchant/orders/{}/cancel'],
  ['POST', '/merchant/reconcile'],
  ['GET', '/merchant/audit'],
  ['GET', '/merchant/health'],
  ['GET', '/merchant/events'],
  ['GET', '/openapi.json'],
]

/** Those that look into what they are given. */
const deepRoutes = routes.filter(([, path]) =>
  /(payment|cancellation|orders)$/.test(path),
)

const wildMethods =
  'PUT DELETE PATCH OPTIONS HEAD PROPFIND QUERY FOO get post Post LINK'.split(
    ' ',
  )

const wildPaths = [
  '',
  '/',
  '//',
  '/orders',
  '/orders/',
  '/orders//payment',
  '/merchant',
  '/merchant/',
  '/Merchant/orders',
  '/merchant/orders/',
  '/merchant//orders',
  '/../../etc/passwd',
  '/openapi.json/',
  '/openapi%2ejson',
  '/orders/x/payment/extra',
  '/constructor',
  '/__proto__/orders',
]

const hugeDigits = '9'.repeat(400)

const queries = [
  '?limit=0',
  '?limit=-1',
  '?limit=1e309',
  '?limit=201',
  '?limit=200',
  `?limit=${hugeDigits}`,
  `?before=${hugeDigits}`,
  '?before=999999999999999999',
  '?before=0x10',
  '?state=constructor',
  '?state=stored,,captured',
  '?state=stored,captured,voided',
  '?state=__proto__',
  '?chainId=31337',
  '?chainId=1.5',
  '?chainId=99999999999999999999',
  '?payer=0x',
  '?token=0xZZ',
  '?recipient=0x0000000000000000000000000000000000000000',
  '?__proto__=1',
  '?constructor[prototype]=1',
  '?limit=1&limit=2',
  '?fromBlock=5&toBlock=2',
  '?fromBlock=999999999999999999',
  '?fromBlock=-5',
  '?toBlock=latest',
  '?after=-1',
  '?after=999999999999999999',
  '?after=1',
  '?orderId=',
  '?orderId=%00',
  '?orderId=a&orderId=b',
  `?orderId=${'x'.repeat(129)}`,
  '?%00=%00',
  '?%ff=%fe',
  '?=',
  '?&&&',
  `?q=${'x'.repeat(9_000)}`,
]

/** What follows an address; a token there opens nothing. */
function query({ known }: FuzzWorld): fc.Arbitrary<string> {
  const token = fc.constantFrom(...known).map(({ token: text }) => text)
  const orderId = fc.constantFrom(...known).map(({ id }) => id)
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant('') },
    { weight: 2, arbitrary: fc.constantFrom(...queries) },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom('token', 'buyerToken', 'authorization'), token)
        .map(([name, text]) => `?${name}=${text}`),
    },
    {
      weight: 1,
      arbitrary: orderId.map((id) => `?after=0&orderId=${id}`),
    },
    { weight: 1, arbitrary: fc.webQueryParameters().map((text) => `?${text}`) },
  )
}

/** Any address and any way to ask for it. */
function target(world: FuzzWorld): fc.Arbitrary<Pick<Plan, 'method' | 'path'>> {
  const real = fc
    .tuple(fc.constantFrom(...routes), segment(world), query(world))
    .map(([[method, path], id, tail]) => ({
      method,
      path: `${path.replace('{}', () => id)}${tail}`,
    }))
  const bent = fc
    .tuple(real, fc.constantFrom(...wildMethods, 'GET', 'POST'))
    .map(([{ path }, method]) => ({ path, method }))
  const wild = fc.record({
    path: fc.oneof(
      fc.constantFrom(...wildPaths),
      fc.webPath().map((path) => (path.startsWith('/') ? path : `/${path}`)),
    ),
    method: fc.constantFrom('GET', 'POST', 'OPTIONS', 'DELETE'),
  })
  return fc.oneof(
    { weight: 8, arbitrary: real },
    { weight: 2, arbitrary: bent },
    { weight: 1, arbitrary: wild },
  )
}

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

/** What an honest client would send, for one order or another. */
function honestBody({ known, recipients }: FuzzWorld): fc.Arbitrary<unknown> {
  const order = fc.constantFrom(...known)
  return fc.oneof(
    order.map(({ signed }) => signed),
    order.map(({ cancellation }) => cancellation),
    fc.constantFrom(...Object.values(recipients)).map((recipient) => ({
      ...{ amount: '1.50', recipient, window: '600', chainId: 31337 },
      primaryType: 'ReceiveWithAuthorization',
      metadata: { cart: [1, { sku: 'x' }] },
    })),
    fc.constantFrom({}, { window: '600' }, { fromBlock: '0' }),
  )
}

const hostile: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e300,
  '',
  ' ',
  'x',
  '0',
  '-1',
  '1e18',
  '0x',
  '0x0',
  '00',
  '١٢',
  hugeDigits,
  String(2n ** 256n - 1n),
  String(2n ** 256n),
  `0x${'0'.repeat(40)}`,
  `0x${'f'.repeat(40)}`,
  `0x${'0'.repeat(64)}`,
  `0x${'ff'.repeat(65)}`,
  `0x${'00'.repeat(16_384)}`,
  `0x${'6492'.repeat(16)}`,
  '\u0000',
  '\ud800',
  '💩'.repeat(50),
  '\u202eevil',
  [],
  [[]],
  {},
  { toString: 'x' },
  { value: { value: {} } },
  'x'.repeat(9_000),
]

type Change = {
  at: number
  how: 'set' | 'delete' | 'add' | 'upper' | 'wrap'
  name: string
  value: unknown
}

const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat({ max: 40 }),
  how: fc.constantFrom(
    ...(['set', 'set', 'set', 'delete', 'add', 'upper', 'wrap'] as const),
  ),
  name: fc.constantFrom(
    ...['__proto__', 'constructor', 'toJSON', 'value', 'from', 'x', ''],
  ),
  value: fc.constantFrom(...hostile),
})

type Json = Record<string, unknown>

const upper = (value: unknown) =>
  typeof value === 'string' ? value.toUpperCase() : value

/** The same with one thing other than it should be. */
function changed(given: unknown, { at, how, name, value }: Change): unknown {
  const copy: unknown = JSON.parse(toJson(given))
  const places: [Json, string][] = []
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || !node) return
    for (const key of Object.keys(node)) {
      places.push([node as Json, key])
      visit((node as Json)[key])
    }
  }
  visit(copy)
  const place = places[at % Math.max(places.length, 1)]
  if (!place) return how === 'set' ? value : copy
  const [parent, key] = place
  if (how === 'delete') delete parent[key]
  else if (how === 'set') parent[key] = value
  else if (how === 'wrap') parent[key] = [parent[key]]
  else if (how === 'upper') parent[key] = upper(parent[key])
  else
    Object.defineProperty(parent, name, {
      ...{ value, enumerable: true, configurable: true, writable: true },
    })
  return copy
}

/** Text that is JSON after all, or nearly. */
const textTwists: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text,
  (text) => text,
  (text) => `\ufeff${text}`,
  (text) => ` \n\t${text}\r\n`,
  (text) => `${text}x`,
  (text) => text.slice(0, -1),
  (text) => text.replace(/"(\w+)":/, '"$1":1e999,"$1":'),
  (text) => text.replace(/\{/, '{"__proto__":{"ok":true},'),
  (text) => text.replace(/\}$/, ',"signature":"0x00"}'),
  (text) => text.replaceAll('"', "'"),
  (text) => `[${text}]`,
  (text) => JSON.stringify(text),
  (text) => `)]}'\n${text}`,
]

const noise: fc.Arbitrary<SentBody> = fc.oneof(
  fc.constant<SentBody>({ kind: 'none' }),
  fc
    .string({ maxLength: 200 })
    .map((text) => ({ kind: 'text', text }) as const),
  fc.json().map((text) => ({ kind: 'text', text }) as const),
  fc
    .constantFrom(...hostile)
    .map((value) => ({ kind: 'text', text: JSON.stringify(value) }) as const),
  fc
    .uint8Array({ maxLength: 300 })
    .map((bytes) => ({ kind: 'bytes', bytes: new Uint8Array(bytes) }) as const),
  fc.constantFrom<SentBody>(
    { kind: 'text', text: '['.repeat(30_000) },
    { kind: 'text', text: `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}` },
    {
      kind: 'text',
      text: `{"metadata":${'['.repeat(9_000)}${']'.repeat(9_000)}}`,
    },
    { kind: 'text', text: `"${'x'.repeat(65_534)}"` },
    { kind: 'text', text: `"${'x'.repeat(65_535)}"` },
    { kind: 'text', text: '1e400' },
    { kind: 'text', text: '-0' },
    { kind: 'text', text: '{"amount":1e400}' },
    { kind: 'pieces', count: 3, size: 65_536, broken: false },
    { kind: 'pieces', count: 65, size: 1_024, broken: false },
    { kind: 'pieces', count: 1_000_000, size: 65_536, broken: false },
    { kind: 'pieces', count: 2, size: 10, broken: true },
    { kind: 'pieces', count: 0, size: 0, broken: true },
  ),
)

/** What honest clients send, with a thing or two wrong. */
function bentBody(honest: fc.Arbitrary<unknown>): fc.Arbitrary<SentBody> {
  return fc
    .tuple(
      honest,
      fc.array(change, { maxLength: 2 }),
      fc.constantFrom(...textTwists),
    )
    .map(([value, changes, twist]) => ({
      kind: 'text' as const,
      text: twist(toJson(changes.reduce<unknown>(changed, value)) ?? 'null'),
    }))
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
      ...{ method, path, body },
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
      ...{ amount: '1.50', recipient: recipients.a, window: '600' },
      metadata: { cart: [1, { sku: 'x' }] },
    }
  if (path.endsWith('/reauthorize')) return { window: '900' }
  return {}
}
