import type { Hash } from 'viem'
import { getSentNonce } from '../lanes/getSentNonce.js'
import { type LaneState, laneKey } from '../lanes/laneState.js'
import type { OrdersContext } from '../records/types.js'

/**
 * Compares the account nonce of what a wallet sent with the one it was given.
 * Another one proves that the wallet takes its own. The same proves nothing, as
 * it is the one that came next: it is assumed to be kept until another is seen.
 */
export async function judgeWallet(
  { store, observe }: OrdersContext,
  lane: LaneState,
  { hash, nonce }: { hash: Hash; nonce: number },
): Promise<void> {
  const { reader, value } = lane
  if (value.ignoresNonce === true) return
  const sent = await getSentNonce(reader, hash)
  if (sent === undefined || sent === null) return
  const ignoresNonce = sent !== nonce
  // One answer alone proves nothing that is kept for good.
  if (ignoresNonce && (await getSentNonce(reader, hash)) !== sent) return
  if (!ignoresNonce) lane.asked.kept.add(hash)
  if (ignoresNonce === value.ignoresNonce) return
  const { lane: at } = lane.wallet
  const next = { ...value, ignoresNonce }
  await store.write((tables) => tables.setValue(laneKey(at), next), {
    lease: lane.lease,
  })
  lane.value = next
  if (!ignoresNonce) return
  observe({
    name: 'lane.waits',
    attributes: { ...at, reason: 'ignoresNonce' },
  })
}
