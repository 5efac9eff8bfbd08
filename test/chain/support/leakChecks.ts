import { inspect } from 'node:util'
import { capturePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { type Hex, slice } from 'viem'
import { mine, setAutomine } from 'viem/actions'
import { afterAll, expect } from 'vitest'
import { draft, mined, revoke } from './desk.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())
export const { public: reader, merchant, payer, relayer } = chain.clients
const { test: node } = chain.clients
export const payment = await draft(chain)
export const cancellation = await revoke(chain, await draft(chain))
export const failed = await draft(chain)
export const failedHash = await mined(
  chain,
  capturePayment(merchant, { payment: failed, gas: 85_000n, simulate: false }),
)
// From here on nothing is mined, so that each call starts from the same state.
await setAutomine(node, false)
afterAll(() => mine(node, { blocks: 1 }))

export const signatures = [payment, cancellation, failed].map(
  (it) => it.signature,
)

/** How r and s of a signature, or all of it, can be written. */
function spellings(signature: Hex): string[] {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const base64 = (from: number, to: number) =>
    bytes.subarray(from, to).toString('base64').slice(0, 40)
  return [slice(signature, 0, 32), slice(signature, 32, 64)]
    .flatMap((part) => [
      part.slice(2).toLowerCase(),
      part.slice(2).toUpperCase(),
      BigInt(part).toString(),
    ])
    .concat(base64(0, 30), base64(32, 62), base64(33, 63), base64(34, 64))
    .concat(
      [bytes.subarray(0, 32), bytes.subarray(32, 64)].flatMap((part) =>
        Object.values(groupings).map((group) => group(part)),
      ),
    )
}

/** The same in groups, as careless nodes print bytes. */
export const groupings: Record<string, (bytes: Buffer) => string> = {
  'a list of bytes': (bytes) => [...bytes].join(','),
  'a list of bytes with spaces': (bytes) => [...bytes].join(', '),
  'groups of 8 digits': (bytes) =>
    bytes.toString('hex').match(/.{8}/g)?.join(' ') ?? '',
  'pairs of digits': (bytes) =>
    bytes.toString('hex').match(/../g)?.join(':') ?? '',
}

const secrets = signatures.flatMap(spellings)

/** All text that can be got out of a value, its hidden parts included. */
function textsOf(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'bigint' || typeof value === 'string')
    return [String(value)]
  if (typeof value !== 'object' || !value || seen.has(value)) return []
  seen.add(value)
  const texts = [
    inspect(value, { depth: Number.POSITIVE_INFINITY, showHidden: true }),
    JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? `${it}` : it)),
  ]
  for (
    let at: object | null = value;
    at && at !== Object.prototype;
    at = Object.getPrototypeOf(at)
  )
    for (const key of Reflect.ownKeys(at))
      texts.push(String(key), ...textsOf(Reflect.get(at, key, value), seen))
  return texts
}

export function expectNoLeak(value: unknown): void {
  const texts = textsOf(value)
  const leaked = secrets.filter((it) => texts.some((text) => text.includes(it)))
  expect(leaked).toEqual([])
}
export const expected = {
  token: chain.token,
  to: payment.message.to,
  amount: '12.50',
  chainId: 31337,
}
export const local = merchant.account

/** A JSON.stringify for whatever a signer is given. */
export const quote = (value: unknown) =>
  JSON.stringify(value, (_, it) => (typeof it === 'bigint' ? `${it}` : it))
const { signature: _2, ...unsigned } = cancellation
export const unsignedCancellation = unsigned
