import type { Address } from 'viem'
import type { ReadLog } from '../../chain/logs/types.js'
import { observeFailure } from '../../core/observeFailure.js'
import type { ClientGroup, OrdersContext } from '../../orders/engine.js'
import { decodePermission } from '../permission/permissionJson.js'
import type { SubscriptionsContext } from './context.js'

const pageSize = 200

/**
 * Drops logs whose transaction already proves a stored charge. Comparing
 * transactions suffices, because a transaction of this library makes only one
 * charge.
 */
export async function withoutProof(
  { store }: Pick<OrdersContext, 'store'>,
  chainId: number,
  logs: readonly ReadLog[],
): Promise<ReadLog[]> {
  const left: ReadLog[] = []
  for (let first = 0; first < logs.length; first += pageSize) {
    const page = logs.slice(first, first + pageSize)
    const hashes = page.map((log) => log.transactionHash)
    const proofs = await store.read((tables) =>
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

/**
 * Finds the manager contracts of all subscriptions. For each, returns the
 * recipients that charge through it, with the time of their oldest
 * subscription.
 */
export async function findManagers(
  { context }: SubscriptionsContext,
  { destinations }: Pick<ClientGroup, 'destinations'>,
): Promise<ReadonlyMap<Address, ReadonlyMap<Address, bigint>>> {
  const managers = new Map<Address, Map<Address, bigint>>()
  const listed = destinations()
  let before: bigint | undefined
  for (;;) {
    const { rows, orders } = await context.store.read(async (tables) => {
      const query = { listed, before, limit: pageSize }
      const rows = await tables.subscriptions.find(query)
      const ids = rows.map(({ id }) => id)
      const orders = ids.length ? await tables.orders.find({ ids }) : []
      return { rows, orders }
    })
    const created = new Map(orders.map(({ id, createdAt }) => [id, createdAt]))
    for (const { id, chainId, token, recipient, permission } of rows)
      try {
        const { verifyingContract } = decodePermission(permission).domain
        const time = created.get(id)
        if (time === undefined) continue
        const oldest = managers.get(verifyingContract) ?? new Map()
        managers.set(verifyingContract, oldest)
        const known = oldest.get(recipient) ?? time
        oldest.set(recipient, time < known ? time : known)
      } catch (error) {
        // Reports a malformed row instead of throwing, so that all other rows
        // are read.
        observeFailure(context, 'schedule.failed', {
          about: { chainId, token, recipient, what: id },
          error,
        })
      }
    before = rows.at(-1)?.position
    if (rows.length < pageSize) return managers
  }
}
