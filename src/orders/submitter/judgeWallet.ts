import type { Hash } from 'viem'
import type { OrdersContext } from '../model/types.js'
import { getSentNonce } from './getSentNonce.js'
import { type SubmitterState, submitterKey } from './submitterState.js'

/**
 * Compares the account nonce that a wallet used with the one we gave it. A
 * different nonce proves that the wallet chooses its own. The same nonce proves
 * nothing, as it was the next one anyway: we assume that the wallet keeps ours
 * until it uses another.
 */
export async function judgeWallet(
  { store, observe }: OrdersContext,
  submitter: SubmitterState,
  { hash, nonce }: { hash: Hash; nonce: number },
): Promise<void> {
  const { reader, value } = submitter
  if (value.ignoresNonce === true) return
  const sent = await getSentNonce(reader, hash)
  if (sent === undefined || sent === null) return
  const ignoresNonce = sent !== nonce
  // Ask twice, because the result is kept for good.
  if (ignoresNonce && (await getSentNonce(reader, hash)) !== sent) return
  if (!ignoresNonce) submitter.asked.kept.add(hash)
  if (ignoresNonce === value.ignoresNonce) return
  const { submitter: at } = submitter.wallet
  const next = { ...value, ignoresNonce }
  await store.write((tables) => tables.setValue(submitterKey(at), next), {
    lease: submitter.lease,
  })
  submitter.value = next
  if (!ignoresNonce) return
  observe({
    name: 'submitter.waits',
    attributes: { ...at, reason: 'ignoresNonce' },
  })
}
