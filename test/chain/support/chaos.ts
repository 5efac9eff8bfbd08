import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqliteStore } from 'countersign/sql'
import type { PrivateKeyAccount, TransactionSerialized } from 'viem'
import { parseTransaction } from 'viem'
import { onTestFinished } from 'vitest'
import type { PaymentStore } from '../../../src/store/types.js'
import { seededRandom } from '../../../src/testing/seededRandom.js'
import { rpcError } from './desk.js'
import type { ShopParameters } from './orderRows.js'

export const isFull = process.env.COUNTERSIGN_FULL === '1'

/**
 * What a failed run is repeated with; it stands in the names of its tests. The
 * ordinary run draws the same each time, the full one anew.
 */
export const seed =
  Number(process.env.COUNTERSIGN_SEED) ||
  (isFull ? Date.now() % 2 ** 31 : 10878755)

/** Numbers that belong to one test alone. */
export function startChance(place: number): () => number {
  return seededRandom(seed + place)
}

/** A database in a folder that goes with the test. */
export function sqliteFile(): { file: string; store: PaymentStore } {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-chaos-'))
  const file = join(folder, 'orders.db')
  const store = sqliteStore({ file })
  onTestFinished(async () => {
    await store.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return { file, store }
}

type Answer = NonNullable<ShopParameters['answer']>

const refuse = (words: string) => Promise.reject(rpcError(-32000, words))

/** Ways a broadcast goes wrong; each says whether the node got it. */
const failures: Readonly<
  Record<string, (forward: () => Promise<unknown>) => Promise<unknown>>
> = {
  droppedBefore: () => Promise.reject(new Error('fetch failed')),
  droppedAfter: async (forward) => {
    await forward()
    throw new Error('fetch failed')
  },
  acceptedAndRefused: async (forward) => {
    await forward()
    return refuse('internal failure')
  },
  nonceTooLow: () => refuse('nonce too low'),
  underpriced: () => refuse('transaction underpriced'),
}

/** A node to which each kind of failure happens at this rate. */
export function failBroadcasts(
  random: () => number,
  rate: number,
  next: Answer = (_, forward) => forward(),
): { answer: Answer; tally: Record<string, number> } {
  const kinds = Object.keys(failures)
  const tally = Object.fromEntries(kinds.map((kind) => [kind, 0]))
  const answer: Answer = (asked, forward) => {
    if (asked.method !== 'eth_sendRawTransaction') return forward()
    const kind = kinds[Math.floor(random() / rate)]
    if (kind === undefined) return next(asked, forward)
    tally[kind] = (tally[kind] ?? 0) + 1
    return failures[kind]?.(() => next(asked, forward)) ?? forward()
  }
  return { answer, tally }
}

/** Takes every n-th nonce for something else, just before it is used. */
export function stealNonces(
  account: PrivateKeyAccount,
  every: number,
  send: (raw: TransactionSerialized) => Promise<unknown>,
): { answer: Answer; stolen: Set<number> } {
  const stolen = new Set<number>()
  const answer: Answer = async (asked, forward) => {
    const raw = String(asked.params) as TransactionSerialized
    const { nonce = 0 } = parseTransaction(raw)
    if (nonce % every === every - 1 && !stolen.has(nonce)) {
      const foreign = await account.signTransaction({
        chainId: 31337,
        to: account.address,
        nonce,
        gas: 21_000n,
        // Nothing of ours can take its place.
        maxFeePerGas: 10n ** 12n,
        maxPriorityFeePerGas: 10n ** 12n,
      })
      await send(foreign as TransactionSerialized)
      stolen.add(nonce)
    }
    return forward()
  }
  return { answer, stolen }
}
