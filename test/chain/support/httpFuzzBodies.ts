import fc from 'fast-check'
import { toJson } from '../../../src/core/toJson.js'
import { hugeDigits } from './httpFuzzAddresses.js'
import type { SentBody } from './httpFuzzRequests.js'
import type { FuzzWorld } from './httpFuzzWorld.js'

/** What an honest client would send, for one order or another. */
export function honestBody({
  known,
  recipients,
}: FuzzWorld): fc.Arbitrary<unknown> {
  const order = fc.constantFrom(...known)
  return fc.oneof(
    order.map(({ signed }) => signed),
    order.map(({ cancellation }) => cancellation),
    fc.constantFrom(...Object.values(recipients)).map((recipient) => ({
      amount: '1.50',
      recipient,
      window: '600',
      chainId: 31337,
      primaryType: 'ReceiveWithAuthorization',
      metadata: { cart: [1, { sku: 'x' }] },
    })),
    fc.constantFrom(
      { refundId: 'one' },
      { refundId: 'two', amount: '0.50', reason: 'duplicate' },
    ),
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

export const change: fc.Arbitrary<Change> = fc.record({
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
export function changed(
  given: unknown,
  { at, how, name, value }: Change,
): unknown {
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
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    })
  return copy
}

/** Text that is JSON after all, or nearly. */
export const textTwists: readonly ((text: string) => string)[] = [
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

export const noise: fc.Arbitrary<SentBody> = fc.oneof(
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
export function bentBody(
  honest: fc.Arbitrary<unknown>,
): fc.Arbitrary<SentBody> {
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
