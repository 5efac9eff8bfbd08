import {
  CountersignError,
  decodePayment,
  encodePayment,
  type PaymentExpectation,
  verifyPayment,
} from 'countersign'
import { samplePayment } from 'countersign/testing'
import { createClient, custom } from 'viem'
import { base } from 'viem/chains'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  anything,
  type Chance,
  createChance,
  type Payload,
  spoil,
} from './support/badPayments.js'

const count = process.env.COUNTERSIGN_FULL ? 2_000_000 : 100_000
const seed = Number(process.env.COUNTERSIGN_SEED) || Date.now() % 2 ** 31

const signed = {
  ...samplePayment(),
  signature: `0x${'3c'.repeat(64)}1b` as const,
}
const { from, to, nonce } = signed.message
const expectation: PaymentExpectation = {
  token: signed.domain.verifyingContract,
  to,
  amount: '12.50',
  chainId: 8453,
  from,
  nonce,
  maxWindow: 3_600n,
}

// Drawing up a stack for each of so many errors would take most of the time.
const { stackTraceLimit } = Error
beforeAll(() => {
  Error.stackTraceLimit = 0
})
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit
})

/** Fails with what is needed to see the case again. */
function fail(problem: unknown, given: unknown, at: number): never {
  const shown = JSON.stringify(given, (_, value) =>
    typeof value === 'bigint' ? `${value}n` : value,
  )
  throw new Error(
    `case ${at}, COUNTERSIGN_SEED=${seed}: ${problem} for ${shown?.slice(0, 900)}`,
    { cause: problem },
  )
}

const { structuredClone: clone } = globalThis
const parsed = JSON.parse(encodePayment(signed)) as Payload

function badPayload(chance: Chance): unknown {
  if (chance.below(10) === 0) return anything(chance)
  return spoil(clone(parsed), chance, { text: true, policy: false })
}

function badText(chance: Chance): string {
  const text = encodePayment(signed)
  const at = chance.below(text.length - 1)
  const end = at + 1 + chance.below(40)
  return chance.pick([
    text.slice(0, at),
    `${text.slice(0, at)}${chance.pick(['{', '}', '\\', '\0', '"'])}${text.slice(at + 1)}`,
    `${text.slice(0, at)}${chance.hex(3)}${text.slice(end)}`,
    text + text,
    JSON.stringify(anything(chance), (_, value) =>
      typeof value === 'bigint' ? `${value}` : value,
    ) ?? '',
  ])
}

test(`${count} bad payloads of seed ${seed} decode to a typed error`, () => {
  const chance = createChance(seed)
  for (let at = 0; at < count; at++) {
    const given = badPayload(chance)
    let error: unknown
    try {
      error = decodePayment(given)
    } catch (thrown) {
      error = thrown
    }
    if (!(error instanceof CountersignError)) fail(error, given, at)
  }
})

/** Whether two parsed payments hold the same, in any letter case. */
function isSame(one: unknown, two: unknown): boolean {
  if (typeof one !== 'object')
    return `${one}`.toLowerCase() === `${two}`.toLowerCase()
  const [mine, other] = [Object(one), Object(two)]
  const members = Object.keys(mine)
  return (
    members.length === Object.keys(other).length &&
    members.every((member) => isSame(mine[member], other[member]))
  )
}

test('damaged text decodes to a typed error, or to what it says', () => {
  const chance = createChance(seed + 1)
  for (let at = 0; at < count / 4; at++) {
    const given = badText(chance)
    try {
      const payment = decodePayment(given)
      const same = isSame(JSON.parse(given), JSON.parse(encodePayment(payment)))
      if (!same) fail('something was lost or added', given, at)
    } catch (error) {
      if (!(error instanceof CountersignError)) fail(error, given, at)
    }
  }
})

/** A client that notes each request instead of sending it. */
function silentClient() {
  const requests: unknown[] = []
  const request = async (args: unknown) => {
    requests.push(args)
    throw new Error('no request may be sent')
  }
  const transport = custom({ request }, { retryCount: 0 })
  return { requests, client: createClient({ chain: base, transport }) }
}

test('the payload that is spoiled below would be sent to the node', async () => {
  const { client, requests } = silentClient()
  const verdict = verifyPayment(client, {
    payment: signed,
    expect: expectation,
  })
  await expect(verdict).rejects.toBeInstanceOf(CountersignError)
  expect(requests).toHaveLength(1)
})

const reasons = new Set([
  'malformedSignature',
  'wrongChain',
  'wrongToken',
  'wrongPrimaryType',
  'wrongNonce',
  'wrongPayer',
  'wrongRecipient',
  'selfPayment',
  'windowTooLong',
])

test(`${count} bad payments of seed ${seed} are refused by their message`, async () => {
  const chance = createChance(seed + 2)
  const { client, requests } = silentClient()
  const seen = new Set<string>()
  for (let at = 0; at < count; at++) {
    const given =
      chance.below(20) === 0
        ? anything(chance)
        : spoil(clone(signed), chance, { text: false, policy: true })
    const verdict = await verifyPayment(client, {
      payment: given as never,
      expect: expectation,
    }).catch((error: unknown) => error)
    if (requests.length > 0) fail('a request was sent', given, at)
    if (verdict instanceof CountersignError) continue
    const { ok, reason } = Object(verdict)
    if (ok !== false || !reasons.has(reason)) fail(verdict, given, at)
    seen.add(reason)
  }
  expect(seen).toEqual(new Set([...reasons].filter((r) => r !== 'selfPayment')))
})

test('malformed expectations are typed errors before any request', async () => {
  const chance = createChance(seed + 3)
  const { client, requests } = silentClient()
  for (let at = 0; at < count / 20; at++) {
    const field = chance.pick(['token', 'to', 'from', 'nonce'] as const)
    const value = chance.pick<unknown>([
      null,
      1,
      '',
      `0x${chance.hex(chance.below(39))}`,
      {},
      [expectation[field]],
      { toString: 1, valueOf: 1 },
      Symbol('x'),
    ])
    const given = { ...expectation, [field]: value }
    const error = await verifyPayment(client, {
      payment: signed,
      expect: given as never,
    }).catch((thrown: unknown) => thrown)
    if (requests.length > 0) fail('a request was sent', given, at)
    if (!(error instanceof CountersignError)) fail(error, given, at)
  }
})
