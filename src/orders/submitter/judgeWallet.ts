import type { Hash } from 'viem'
import type { OrdersContext } from '../model/types.js'
import { getSentNonce } from './getSentNonce.js'
import { type LaneState, laneKey } from './laneState.js'

/**
 * Compares the account nonce that a wallet used with the one we gave it. A
 * different nonce proves that the wallet chooses its own. The same nonce proves
 * nothing, as it was the next one anyway: we assume that the wallet keeps ours
 * until it uses another.
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
  // Ask twice, because the result is kept for good.
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
