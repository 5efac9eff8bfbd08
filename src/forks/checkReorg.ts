import type { Client } from 'viem'
import { getBlockTimes } from '../reads/getBlockTimes.js'
import type { OrdersContext } from '../records/types.js'
import type { Lease, Scope } from '../store/types.js'
import { findCanonical } from './findCanonical.js'
import type { ChainHeads } from './readHeads.js'
import { readProofs } from './readSettled.js'
import { recheckConsumed } from './recheckConsumed.js'
import { recheckProofs } from './recheckProofs.js'
import { type Displaced, takeBack } from './takeBack.js'
import {
  addSeen,
  readCursor,
  type SeenBlock,
  traced,
  type WatchMemory,
} from './watchState.js'

/** What one tick of a watcher works with. */
export type Watch = {
  client: Client
  scope: Scope
  memory: WatchMemory
  heads: ChainHeads
  lease: Lease | undefined
}

/**
 * Notices that the chain is another than the one seen before, and writes what
 * became of everything it showed since: a proof that is gone takes back what
 * it settled, one that moved is kept where it is now.
 *
 * Nothing is taken back for a receipt one node does not have.
 *
 * @returns whether the chain was reorganized, or nothing can be told because
 * the node is behind.
 */
export async function checkReorg(
  context: OrdersContext,
  watch: Watch,
): Promise<'same' | 'reorged' | 'behind'> {
  const { client, memory, heads } = watch
  const { latest, asked } = heads
  const before = memory.recheckFrom
  const seen = memory.seen ?? (await startSeen(context, watch))
  const newest = seen.at(-1)
  const isKnown = newest === undefined || asked?.hash === newest.hash
  const fork = isKnown
    ? { canonical: seen, isForked: false }
    : await findCanonical(client, seen)
  if (!fork.isForked && newest && latest.number < newest.number) return 'behind'
  if (fork.isForked) {
    const { canonical } = fork
    const from =
      (canonical.at(-1)?.number ?? below(lowestOpen(heads), seen)) + 1n
    memory.recheckFrom = before === undefined || from < before ? from : before
  }
  memory.seen = addSeen(fork.canonical, latest)
  if (memory.recheckFrom === undefined) return 'same'
  const isClear = await recheckFrom(context, watch, memory.recheckFrom)
  if (isClear) memory.recheckFrom = undefined
  return fork.isForked ? 'reorged' : 'same'
}

/** What the process before saw; all that is not final is looked at again. */
async function startSeen(
  { store }: OrdersContext,
  { scope, memory, heads }: Watch,
): Promise<WatchMemory['seen'] & object> {
  const cursor = await store.read((tables) => readCursor(tables, scope))
  const seen = cursor?.seen ?? []
  // What is final by now may have been replaced before it was.
  memory.recheckFrom = below(lowestOpen(heads), seen) + 1n
  return seen
}

/** That block, or one below all that were seen. */
function below(number: bigint, seen: readonly SeenBlock[]): bigint {
  const [first] = seen
  if (!first || first.number > number) return number
  return first.number > traced ? first.number - traced : -1n
}

/** The highest block no reorganization reaches, as far as is known. */
function lowestOpen({ latest, finalized }: ChainHeads): bigint {
  if (finalized) return finalized.number
  return latest.number > 64n ? latest.number - 64n : -1n
}

async function recheckFrom(
  context: OrdersContext,
  { client, scope, heads, lease }: Watch,
  fromBlock: bigint,
): Promise<boolean> {
  const all = await context.store.read((tables) =>
    readProofs(tables, [scope], fromBlock),
  )
  const times = await getBlockTimes(
    client,
    all.map(({ blockNumber }) => blockNumber),
  )
  const doubtful = all.filter(
    ({ blockNumber, blockHash }) => times.get(blockNumber)?.hash !== blockHash,
  )
  const checked = await recheckProofs(client, doubtful)
  const displaced = checked.filter(
    (one): one is Displaced =>
      one.verdict === 'moved' || one.verdict === 'gone',
  )
  const { timestamp: blockTime } = heads.latest
  await takeBack(context, displaced, { blockTime, lease })
  const isClear = await recheckConsumed(context, {
    client,
    scope,
    heads,
    lease,
    fromBlock,
  })
  return isClear && checked.every(({ verdict }) => verdict !== 'unclear')
}
