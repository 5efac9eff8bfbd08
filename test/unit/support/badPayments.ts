/** A small repeatable source of chance: the same seed gives the same cases. */
export type Chance = {
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  pick<item>(items: readonly item[]): item
  hex(digits: number): string
}

/** Mulberry32: fast, and good enough to choose cases. */
export function createChance(seed: number): Chance {
  let state = seed
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit)
  }
  return {
    below,
    pick: (items) => items[below(items.length)] as (typeof items)[number],
    hex: (digits) => {
      let text = ''
      while (text.length < digits) text += below(2 ** 32).toString(16)
      return text.slice(0, digits)
    },
  }
}

export type Payload = { [member: string]: unknown }

/** Spoils one member, so that no reader may take the whole any more. */
type Spoiler = (chance: Chance, value: unknown) => unknown

/** Marks a member to be left out. */
const absent = Symbol('absent')

const noText: Spoiler = (chance) =>
  chance.pick([
    absent,
    null,
    0,
    -1,
    Number.NaN,
    1e21,
    true,
    12n,
    Symbol('x'),
    () => '0x',
    [],
    {},
    [['0x']],
    new Date(0),
    Object.create(null),
    { toString: 1, valueOf: 1 },
    { toString: () => `0x${'1'.repeat(40)}` },
    new Uint8Array(20),
  ])

const inList: Spoiler = (_, value) => [value]
const boxed: Spoiler = (_, value) => Object(value)
const cut: Spoiler = (chance, value) =>
  String(value).slice(0, chance.below(String(value).length - 1))
const noHexDigit: Spoiler = (chance, value) => {
  const at = 2 + chance.below(String(value).length - 2)
  const wrong = chance.pick(['g', ' ', 'ａ', '\0', '-', '\n', '😀'])
  return `${String(value).slice(0, at)}${wrong}${String(value).slice(at + 1)}`
}
const surrounded: Spoiler = (chance, value) =>
  chance.pick([` ${value}`, `${value} `, `${value}\n`, `\u{feff}${value}`])
const noPrefix: Spoiler = (_, value) => String(value).slice(2)
const longer: Spoiler = (chance, value) => value + chance.hex(1)

const badHex = [
  noText,
  inList,
  boxed,
  cut,
  noHexDigit,
  surrounded,
  noPrefix,
  longer,
]
const otherHex: Spoiler = (chance, value) =>
  `0x${chance.hex(String(value).length - 2)}`

/** Out of an ECDSA signature's range, or no signature at all. */
const badSignature: Spoiler = (chance) => {
  const word = () => chance.hex(64)
  const [zero, over] = ['0'.repeat(64), 'f'.repeat(64)]
  return chance.pick([
    '0x',
    `0x${zero}${zero}`,
    `0x${zero}${word()}1b`,
    `0x${over}${word()}1b`,
    `0x1${chance.hex(63)}${zero}1c`,
    `0x1${chance.hex(63)}${over}1c`,
    `0x${chance.hex(2 * chance.below(64))}`,
    `0x${chance.hex(129)}`,
    `0x${'6492'.repeat(16)}`,
    `0x${chance.hex(2 * chance.below(30))}${'6492'.repeat(16)}`,
  ])
}

const badText = [noText, inList, boxed, () => 'x'.repeat(257)]
const badChainId: Spoiler = (chance, value) =>
  chance.pick([0, -1, 1.5, 2 ** 53, `${value}`, '0x1', BigInt(8453), ''])
const otherChain: Spoiler = (chance) => 10_000 + chance.below(1e9)
const badType: Spoiler = (chance, value) =>
  chance.pick([
    'TransferWithAuthorization',
    'CancelAuthorization',
    'Permit',
    '__proto__',
    'constructor',
    `${value} `,
    String(value).toLowerCase(),
  ])

/** What makes an integer of a payment wrong, as `bigint` or as text. */
const badUint =
  (text: boolean): Spoiler =>
  (chance, value) => {
    const wrong = chance.pick([-1n, -(2n ** 255n), 2n ** 256n, 2n ** 300n])
    const other = text ? BigInt(String(value)) : String(value)
    return chance.pick([
      text ? String(wrong) : wrong,
      text ? other : Number(value),
      text ? `0${value}` : other,
      text ? `${value}.0` : Object(value),
      text ? `+${value}` : { value },
      text ? ` ${value}` : `0x${chance.hex(8)}`,
      text ? '1e3' : undefined,
      text ? '' : 1.5,
    ])
  }

/** Wrong as such, or, for `policy`, well formed but not what is expected. */
function spoilersOf(
  path: string,
  { text, policy }: { text: boolean; policy: boolean },
): readonly Spoiler[] {
  const other = policy ? [otherHex] : []
  switch (path) {
    case 'primaryType':
      return policy
        ? [noText, inList, badType]
        : [noText, inList, (_, value) => `${value}s`]
    case 'domain.name':
    case 'domain.version':
      return badText
    case 'domain.chainId':
      return policy
        ? [noText, badChainId, otherChain]
        : [badChainId, inList, boxed]
    case 'domain.verifyingContract':
    case 'message.from':
    case 'message.to':
    case 'message.nonce':
      return [...badHex, ...other]
    case 'message.validBefore':
      return policy
        ? [badUint(text), (chance) => 10n ** 18n + BigInt(chance.below(1e9))]
        : [badUint(text)]
    case 'signature':
      return policy
        ? [noText, inList, boxed, noPrefix, noHexDigit, badSignature]
        : [cutHalf, inList, noPrefix, noHexDigit, surrounded, longer]
    case 'message.value':
    case 'message.validAfter':
      return [badUint(text), inList]
    default:
      return [noText, inList, () => '{}']
  }
}

const cutHalf: Spoiler = (chance, value) =>
  String(value).slice(0, 3 + 2 * chance.below(60))

const paths = [
  'primaryType',
  'domain',
  'domain.name',
  'domain.version',
  'domain.chainId',
  'domain.verifyingContract',
  'message',
  'message.from',
  'message.to',
  'message.value',
  'message.validAfter',
  'message.validBefore',
  'message.nonce',
  'signature',
]

const extraNames = [
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  'r',
  'v',
  'amount',
  'salt',
  '',
  '0',
  ' from',
  'From',
]

/**
 * Spoils one to three members of a valid payload in place. `text`: integers
 * are decimal text. `policy`: well formed but unexpected values count as bad.
 */
export function spoil(
  payload: Payload,
  chance: Chance,
  kind: { text: boolean; policy: boolean },
): Payload {
  const done: string[] = []
  for (let count = 1 + chance.below(3); count > 0; count--) {
    const path = chance.pick(paths)
    if (done.some((spoiled) => path.startsWith(spoiled))) continue
    done.push(path)
    const { holder, member } = locate(payload, path)
    if (!holder) continue
    if (chance.below(8) === 0) addMember(holder, chance)
    else {
      const value = chance.pick(spoilersOf(path, kind))(chance, holder[member])
      if (value === absent || value === undefined) delete holder[member]
      else holder[member] = value
    }
  }
  return payload
}

function locate(
  payload: Payload,
  path: string,
): { holder: Payload | undefined; member: string } {
  const [first = '', second] = path.split('.')
  const inner = payload[first]
  if (second === undefined) return { holder: payload, member: first }
  const isHolder = Object.getPrototypeOf(Object(inner)) === Object.prototype
  return { holder: isHolder ? (inner as Payload) : undefined, member: second }
}

function addMember(holder: Payload, chance: Chance): void {
  const name = chance.below(2) ? chance.pick(extraNames) : chance.hex(6)
  Object.defineProperty(holder, name, {
    value: chance.pick([1, null, {}, 'x', `0x${'1'.repeat(40)}`]),
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

/** Any value at all, nested a little: for readers that expect an object. */
export function anything(chance: Chance, depth = 3): unknown {
  const kind = chance.below(depth > 0 ? 12 : 8)
  if (kind === 8) return [anything(chance, depth - 1)]
  if (kind > 8) {
    const value: Payload = {}
    for (let count = chance.below(5); count > 0; count--)
      value[chance.pick([...paths, 'from', 'to', ...extraNames.slice(1)])] =
        anything(chance, depth - 1)
    return value
  }
  return chance.pick([
    undefined,
    null,
    true,
    chance.below(1e9),
    -0.5,
    BigInt(chance.below(1e9)),
    chance.hex(chance.below(90)),
    `0x${chance.hex(40)}`,
    'ReceiveWithAuthorization',
    Symbol.iterator,
    /x/,
    () => 1,
  ])
}
