import type { Hash } from 'viem'
import type { OrdersContext } from '../model/types.js'
import { getSentNonce } from './getSentNonce.js'
import { groupByNonce } from './judgeNonces.js'
import { judgeWallet } from './judgeWallet.js'
import type { SubmitterView } from './readSubmitter.js'
import { choosesNonce, type SubmitterState } from './submitterState.js'

/** Ticks between two looks at the transactions of such a wallet. */
const lookEvery = 8

/**
 * Checks the transactions of a wallet that signs and sends itself: which
 * account nonce the wallet used, and whether the node still has them.
 */
export async function watchWallet(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<void> {
  if (submitter.wallet.account.type === 'local' || view.isEarly) return
  if (submitter.value.ignoresNonce !== true)
    await reviseWallet(context, submitter, view)
  if (!choosesNonce(submitter)) await passOver(context, submitter, view)
}

/** Checks the transactions that contradict our assumption about the nonces. */
async function reviseWallet(
  context: OrdersContext,
  submitter: SubmitterState,
  { count, receipts }: SubmitterView,
): Promise<void> {
  const { asked, value, lost, tick } = submitter
  for (const { hash, nonce } of submitter.inFlight) {
    if (hash === undefined || asked.kept.has(hash)) continue
    const isMined = receipts.has(hash)
    const isPassed = nonce < count
    // Mined although our nonce is unused, or the reverse.
    const isOdd = isMined !== isPassed
    if (!isOdd && value.ignoresNonce === false) continue
    const isNew = isMined || (isPassed && (lost.get(nonce)?.looks ?? 0) < 2)
    if (!isNew && tick % lookEvery !== 1) continue
    await judgeWallet(context, submitter, { hash, nonce })
    if (submitter.value.ignoresNonce === true) return
  }
}

/**
 * Stops waiting for a transaction without an outcome if the wallet may use
 * nonces of its own, so that other orders go on. The transaction stays on
 * record and is not sent again.
 */
async function passOver(
  context: OrdersContext,
  submitter: SubmitterState,
  { receipts }: SubmitterView,
): Promise<void> {
  const { asked, value, wallet } = submitter
  const groups = groupByNonce(submitter.inFlight)
  const open = new Set(groups.map(([{ nonce }]) => nonce))
  for (const nonce of asked.passedOver)
    if (!open.has(nonce)) asked.passedOver.delete(nonce)
  for (const rows of groups) {
    const [{ nonce }] = rows
    if (asked.passedOver.has(nonce)) continue
    const hashes = rows.flatMap(({ hash }) => hash ?? [])
    const isHashless = hashes.length === 0
    // We know nothing about the wallet yet: others may depend on this nonce.
    if (isHashless && value.ignoresNonce === undefined) continue
    const isLost =
      isHashless ||
      (await isLostFor(context, submitter, { nonce, hashes, receipts }))
    if (!isLost) continue
    asked.passedOver.add(nonce)
    context.observe({
      name: 'submitter.passedOver',
      attributes: { ...wallet.submitter, nonce, openTransactions: open.size },
    })
  }
}

/**
 * True when the node has lacked the transactions for long enough. The time
 * doubles with each nonce that is passed over.
 */
async function isLostFor(
  { policy }: OrdersContext,
  { asked, reader, tick }: SubmitterState,
  {
    nonce,
    hashes,
    receipts,
  }: {
    nonce: number
    hashes: readonly Hash[]
    receipts: SubmitterView['receipts']
  },
): Promise<boolean> {
  if (tick % lookEvery !== 1) return false
  const looks = await Promise.all(
    hashes.map((hash) => (receipts.has(hash) ? 0 : getSentNonce(reader, hash))),
  )
  if (looks.includes(undefined)) return false
  const isThere = looks.some((one) => one !== null)
  const now = performance.now()
  const since = asked.missing.get(nonce) ?? now
  if (isThere) asked.missing.delete(nonce)
  else asked.missing.set(nonce, since)
  const pause = policy.bumpAfter * 1000 * 2 ** asked.passedOver.size
  return !isThere && now > since && now - since >= pause
}
