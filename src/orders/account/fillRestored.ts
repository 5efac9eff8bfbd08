import { encodeBlock, requestQuantity } from '../../chain/rpc/requestNode.js'
import { getHeads } from '../../chain/state/getHeads.js'
import type { OrdersContext } from '../context/types.js'
import type { SubmitterValue } from './accountNonces.js'
import { type SubmitterState, submitterKey } from './submitterState.js'

/**
 * Most account nonces to use up at once. If a node shows more gaps, `fillGaps`
 * assumes that the node is wrong.
 */
const mostAtOnce = 16

/** The account's transaction count at the blocks `latest` and `pending`. */
export type SubmitterCounts = { count: number; pendingCount: number }

/**
 * After a backup was restored, lets `fillGaps` send empty transactions at the
 * account nonces that the lost database may have used. Nothing else is signed
 * before that: a charge has no payment nonce on chain, so a lost transaction
 * could charge a second time.
 *
 * @returns `true` once those account nonces are used in a safe block, or if no
 * backup was restored.
 */
export async function fillRestored(
  { store, policy }: OrdersContext,
  { nonces, wallet, lease, reader }: SubmitterState,
  { count, pendingCount }: SubmitterCounts,
): Promise<boolean> {
  const { fillTo, ...value } = nonces.value
  if (fillTo === undefined) return true
  const { submitter } = wallet
  const keep = async (next: SubmitterValue): Promise<void> => {
    await store.write(
      (tables) => tables.setValue(submitterKey(submitter), next),
      { lease },
    )
    nonces.keep(next)
  }
  const first = Math.max(count, pendingCount)
  const end = fillTo === true ? first + policy.maxInFlight : fillTo
  if (fillTo === true || count < end) {
    const nextNonce = Math.min(end, first + mostAtOnce)
    if (fillTo === true || nextNonce > value.nextNonce)
      await keep({ ...value, nextNonce, fillTo: end })
    return false
  }
  const { safe, latest, fault } = await getHeads(reader, policy)
  if (fault) return false
  const used = await requestQuantity(reader, 'eth_getTransactionCount', [
    submitter.account,
    // If neither the node nor the policy defines a safe block, use the newest
    // one.
    encodeBlock((safe ?? latest).number),
  ])
  if (Number(used) < end) return false
  await keep(value)
  return true
}
