import type { Address } from 'viem'
import type { ReadLog } from '../../chain/logs/types.js'
import { observeFailure } from '../../core/observeFailure.js'
import type { Destination } from '../../store/types.js'
import { decodePermission } from '../permission/permissionJson.js'
import type { SubscriptionsContext } from './context.js'

const pageSize = 200

/**
 * Filters out logs whose transaction is the proof of a stored charge. That
 * suffices, because a marked charge is alone in its transaction.
 */
export async function withoutProof(
  { context }: SubscriptionsContext,
  { chainId }: Destination,
  logs: readonly ReadLog[],
): Promise<ReadLog[]> {
  const left: ReadLog[] = []
  for (let first = 0; first < logs.length; first += pageSize) {
    const page = logs.slice(first, first + pageSize)
    const hashes = page.map((log) => log.transactionHash)
    const proofs = await context.store.read((tables) =>
      tables.proofs.find({ hashes, chainId }),
    )
    const isProven = (log: ReadLog) =>
      proofs.some(
        ({ transactionHash, blockHash, kind, removed }) =>
          kind === 'capture' &&
          !removed &&
          transactionHash === log.transactionHash &&
          blockHash === log.blockHash,
      )
    left.push(...page.filter((log) => !isProven(log)))
  }
  return left
}

/** The managers of all subscriptions, and the time of the oldest one. */
export async function findManagers(
  { context }: SubscriptionsContext,
  destination: Destination,
): Promise<{ managers: Address[]; oldest: bigint | undefined }> {
  const managers = new Set<Address>()
  let oldest: bigint | undefined
  let before: bigint | undefined
  for (;;) {
    const { rows, orders } = await context.store.read(async (tables) => {
      const listed = [destination]
      const query = { listed, before, limit: pageSize }
      const rows = await tables.subscriptions.find(query)
      const ids = rows.map(({ id }) => id)
      const orders = ids.length ? await tables.orders.find({ ids }) : []
      return { rows, orders }
    })
    for (const { id, permission } of rows)
      try {
        managers.add(decodePermission(permission).domain.verifyingContract)
      } catch (error) {
        // A malformed row must not keep the others from being read.
        observeFailure(context, 'schedule.failed', {
          about: { ...destination, what: id },
          error,
        })
      }
    for (const { createdAt } of orders)
      if (oldest === undefined || createdAt < oldest) oldest = createdAt
    before = rows.at(-1)?.position
    if (rows.length < pageSize) return { managers: [...managers], oldest }
  }
}
