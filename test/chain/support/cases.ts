import type { PrimaryType } from '../../../src/core/types.js'
import type { FamilyName } from './families.js'

export const dimensions = {
  family: [
    'usdc',
    'circle22',
    'circle21',
    'circle20',
    'paxos',
    'openZeppelin',
    'decimals18',
  ],
  primaryType: ['ReceiveWithAuthorization', 'TransferWithAuthorization'],
  form: [
    'plain',
    'v01',
    'highS',
    'compact',
    'wrapped',
    'wrongSigner',
    'wrappedWrongSigner',
    'otherType',
    'tampered',
    'wrongName',
    'garbageShort',
    'garbage65',
    'garbage100',
  ],
  kind: [
    'key',
    'strictWallet',
    'permissiveWallet',
    'strictDelegate',
    'permissiveDelegate',
  ],
} as const

export type Form = (typeof dimensions.form)[number]
export type Kind = (typeof dimensions.kind)[number]

/** How often each value is drawn, in hundredths. */
const weights = {
  window: { open: 50, tight: 24, notYetValid: 12, expired: 14 },
  nonce: { fresh: 82, captured: 9, canceled: 9 },
  balance: { enough: 84, short: 16 },
  state: {
    none: 74,
    paused: 6,
    payerBlocked: 7,
    recipientBlocked: 8,
    bothBlocked: 5,
  },
} as const

type Draws = { [key in keyof typeof weights]: keyof (typeof weights)[key] }

export type Case = Draws & {
  index: number
  family: FamilyName
  primaryType: PrimaryType
  form: Form
  kind: Kind
}

/** Every combination of the dimensions, each with drawn circumstances. */
export function generateCases(rounds: number, seed: number): Case[] {
  const draw = drawer(seed)
  const cases: Case[] = []
  for (let round = 0; round < rounds; round++)
    for (const family of dimensions.family)
      for (const primaryType of dimensions.primaryType)
        for (const form of dimensions.form)
          for (const kind of dimensions.kind) {
            const base = { family, primaryType, form, kind }
            const index = cases.length
            cases.push(feasible({ index, ...base, ...drawAll(draw) }))
          }
  return cases
}

function drawAll(draw: () => number): Draws {
  return {
    window: pick(weights.window, draw()),
    nonce: pick(weights.nonce, draw()),
    balance: pick(weights.balance, draw()),
    state: pick(weights.state, draw()),
  }
}

function pick<name extends string>(
  table: Readonly<Record<name, number>>,
  point: number,
): name {
  const names = Object.keys(table) as name[]
  let passed = 0
  for (const name of names) {
    passed += table[name]
    if (point * 100 < passed) return name
  }
  return names[0] as name
}

/** Numbers in [0, 1) that a seed determines (mulberry32). */
function drawer(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Takes out what no chain can be brought to. */
function feasible(drawn: Case): Case {
  const { family, kind } = drawn
  const state = family === 'openZeppelin' ? 'none' : drawn.state
  const keyless = kind === 'strictWallet' || kind === 'permissiveWallet'
  const nonce = keyless && keysOnly(family) ? 'fresh' : drawn.nonce
  return { ...drawn, state, nonce }
}

/** Tokens that take the signatures of keys and of nothing else. */
const keysOnly = (family: FamilyName): boolean =>
  family === 'circle21' || family === 'circle20' || family === 'openZeppelin'

/** How a capture must end, by the token's own order of checks. */
export type Ending =
  | { reason: 'ok' }
  | {
      reason: string
      /** What the token may say; nothing where it succeeds and moves nothing. */
      words: readonly string[]
    }

/** The ending of a case, from its circumstances alone. */
export function foretell(it: Case): Ending {
  if (it.form === 'garbageShort') return end('malformedSignature')
  const missing = it.form === 'garbage100' && keysOnly(it.family)
  const receives = it.primaryType === 'ReceiveWithAuthorization'
  if (missing || (it.family === 'circle20' && receives))
    return end('unsupportedToken', '')
  const order = orders[it.family] ?? circleOrder
  for (const check of order) {
    const ending = check(it)
    if (ending) return ending
  }
  return { reason: 'ok' }
}

const end = (reason: string, ...words: readonly string[]): Ending => ({
  reason,
  words,
})

type Check = (it: Case) => Ending | false

const paused =
  (words: string): Check =>
  ({ state }) =>
    state === 'paused' && end('paused', words)

const blocked =
  (words: string): Check =>
  ({ state }) => {
    if (state === 'recipientBlocked') return end(state, words)
    const both = state === 'bothBlocked' || state === 'payerBlocked'
    return both && end('payerBlocked', words)
  }

const notYetValid =
  (words: string): Check =>
  ({ window }) =>
    window === 'notYetValid' && end('notYetValid', words)

const expired =
  (words: string): Check =>
  ({ window }) =>
    window === 'expired' && end('expired', words)

const consumed =
  (...words: readonly string[]): Check =>
  ({ nonce }) =>
    nonce !== 'fresh' && end('consumed', ...words)

const short =
  (words: string): Check =>
  ({ balance }) =>
    balance === 'short' && end('insufficientFunds', words)

const signature: Check = (it) =>
  !isAccepted(it) && end(signatureReason(it), ...signatureWords(it))

const circleOrder: readonly Check[] = [
  paused('Pausable: paused'),
  blocked('Blacklistable: account is blacklisted'),
  notYetValid('FiatTokenV2: authorization is not yet valid'),
  expired('FiatTokenV2: authorization is expired'),
  consumed('FiatTokenV2: authorization is used or canceled'),
  signature,
  short('ERC20: transfer amount exceeds balance'),
]

const orders: Partial<Record<FamilyName, readonly Check[]>> = {
  paxos: [
    paused('ContractPaused'),
    notYetValid('AuthorizationInvalid'),
    expired('AuthorizationExpired'),
    consumed(),
    signature,
    blocked('AddressFrozen'),
    short('InsufficientFunds'),
  ],
  openZeppelin: [
    signature,
    notYetValid('ERC3009InvalidAuthorizationTime'),
    expired('ERC3009InvalidAuthorizationTime'),
    consumed('ERC3009UsedAuthorization'),
    short('ERC20InsufficientBalance'),
  ],
}

/** Forms of the payer's own signature of the payment's own message. */
const genuine: readonly Form[] = ['plain', 'v01', 'highS', 'compact', 'wrapped']

function isAccepted({ family, form, kind }: Case): boolean {
  const own = genuine.includes(form)
  const hasKey = kind !== 'strictWallet' && kind !== 'permissiveWallet'
  const byKey = own && hasKey
  if (kind === 'key' || keysOnly(family)) return byKey
  const byCode =
    kind === 'permissiveWallet' || (own && kind !== 'strictDelegate')
  return byCode || (family === 'paxos' && byKey)
}

function signatureReason({ family, form, kind }: Case): string {
  if (form === 'wrongName') return 'wrongDomain'
  if (kind !== 'key') return keysOnly(family) ? 'wrongSigner' : 'walletRejects'
  if (form === 'wrappedWrongSigner') return 'walletNotDeployed'
  return form === 'garbage100' && family !== 'paxos'
    ? 'malformedSignature'
    : 'wrongSigner'
}

function signatureWords({ family, form, kind }: Case): readonly string[] {
  const garbled = form === 'garbage65'
  if (family === 'paxos') return ['InvalidSignature']
  if (family === 'openZeppelin')
    return garbled
      ? ['ERC3009InvalidSignature', 'ECDSAInvalidSignature']
      : ['ERC3009InvalidSignature']
  const invalid = 'FiatTokenV2: invalid signature'
  if (kind !== 'key' && !keysOnly(family)) return [invalid]
  if (form === 'garbage100') return ['ECRecover: invalid signature length']
  return garbled ? [invalid, 'ECRecover: invalid signature'] : [invalid]
}
