import fc from 'fast-check'
import type { Plan } from './httpFuzzRequests.js'
import type { FuzzWorld } from './httpFuzzWorld.js'

export const wildIds = [
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
  ['POST', '/merchant/orders/{}/cancellation/approve'],
  ['POST', '/merchant/orders/{}/refunds'],
  ['GET', '/merchant/orders/{}/refunds'],
  ['GET', '/merchant/orders/{}/refunds/one'],
  ['GET', '/merchant/orders/{}/refunds/one/payment'],
  ['POST', '/merchant/orders/{}/refunds/one/payment'],
  ['POST', '/merchant/reconcile'],
  ['GET', '/merchant/audit'],
  ['GET', '/merchant/ledger'],
  ['GET', '/merchant/health'],
  ['GET', '/merchant/events'],
  ['GET', '/openapi.json'],
]

/** Those that look into what they are given. */
export const deepRoutes = routes.filter(([, path]) =>
  /(payment|cancellation|orders|refunds)$/.test(path),
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

export const hugeDigits = '9'.repeat(400)

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
export function query({ known }: FuzzWorld): fc.Arbitrary<string> {
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
export function target(
  world: FuzzWorld,
): fc.Arbitrary<Pick<Plan, 'method' | 'path'>> {
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
