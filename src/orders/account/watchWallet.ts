import type { Client, Hash } from 'viem'
import { tryRequest } from '../../chain/rpc/requestNode.js'
import type { OrdersContext } from '../context/types.js'
import type { SubmitterView } from './getSubmitterView.js'
import { groupByNonce } from './inFlight.js'
import {
  choosesNonce,
  type SubmitterState,
  submitterKey,
} from './submitterState.js'

/** Number of polls between two checks of a wallet's transactions. */
const looksApart = 8

/**
 * Checks the transactions of a wallet that signs and sends by itself: which
 * account nonces it used, and whether the node still has the transactions.
 */
export async function watchWallet(
  context: OrdersContext,
  submitter: SubmitterState,
  view: SubmitterView,
): Promise<void> {
  if (submitter.wallet.account.type === 'local' || view.isEarly) return
  if (submitter.nonces.value.ignoresNonce !== true)
    await reviseWallet(context, submitter, view)
  if (!choosesNonce(submitter)) await passOver(context, submitter, view)
}

/**
 * Checks transactions that may contradict what we assume about who chooses the
 * account nonces, we or the wallet.
 */
async function reviseWallet(
  context: OrdersContext,
  submitter: SubmitterState,
  { count, receipts }: SubmitterView,
): Promise<void> {
  const { nonces, inFlight, pace, walletMemory } = submitter
  const { ignoresNonce } = nonces.value
  for (const { hash, nonce } of inFlight.rows) {
    if (hash === undefined || walletMemory.hasKeptNonce(hash)) continue
    const isMined = receipts.has(hash)
    const isPassed = nonce < count
    // This transaction is mined although the chain shows our nonce as unused,
    // or the reverse, so the wallet may have used another nonce.
    const isOdd = isMined !== isPassed
    if (!isOdd && ignoresNonce === false) continue
    const isNew = isMined || (isPassed && nonces.lostLooks(nonce) < 2)
    if (!isNew && pace.looks % looksApart !== 1) continue
    await judgeWallet(context, submitter, { hash, nonce })
    if (nonces.value.ignoresNonce === true) return
  }
}

/**
 * Stops waiting for a transaction without an outcome if the wallet may choose
 * its own nonces, so that other orders are sent. The transaction stays in the
 * store and is not sent again.
 */
async function passOver(
  context: OrdersContext,
  submitter: SubmitterState,
  { receipts }: SubmitterView,
): Promise<void> {
  const { walletMemory, walletAsk, nonces, wallet } = submitter
  const asked = walletAsk.row?.nonce
  const { ignoresNonce } = nonces.value
  const groups = groupByNonce(submitter.inFlight.rows)
  const open = new Set(groups.map(([{ nonce }]) => nonce))
  walletMemory.forgetPassedExcept(open)
  for (const rows of groups) {
    const [{ nonce }] = rows
    if (walletMemory.passedOver.has(nonce) || nonce === asked) continue
    const hashes = rows.flatMap(({ hash }) => hash ?? [])
    const isHashless = hashes.length === 0
    // The wallet may still use our nonces. Then later transactions would wait
    // for this one anyway.
    if (isHashless && ignoresNonce === undefined) continue
    const isLost =
      isHashless ||
      (await isLostFor(context, submitter, { nonce, hashes, receipts }))
    if (!isLost) continue
    walletMemory.passOver(nonce)
    context.observe({
      name: 'submitter.passedOver',
      attributes: { ...wallet.submitter, nonce, openTransactions: open.size },
    })
  }
}

/**
 * True when the node has lacked the transactions for long enough. That time
 * doubles with each nonce that is passed over.
 */
async function isLostFor(
  { policy }: OrdersContext,
  { walletMemory, reader, pace }: SubmitterState,
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
  if (pace.looks % looksApart !== 1) return false
  const looks = await Promise.all(
    hashes.map((hash) => (receipts.has(hash) ? 0 : getSentNonce(reader, hash))),
  )
  if (looks.includes(undefined)) return false
  const isThere = looks.some((one) => one !== null)
  if (isThere) {
    walletMemory.forgetMissing(nonce)
    return false
  }
  const now = performance.now()
  const since = walletMemory.noticeMissing(nonce, now)
  const pause = policy.bumpAfter * 1000 * 2 ** walletMemory.passedOver.size
  return now > since && now - since >= pause
}

/**
 * Compares the account nonce that a wallet used with the one that we gave it. A
 * different nonce proves that the wallet chooses its own. The same nonce proves
 * nothing, because it was the next one anyway; we assume that the wallet uses
 * ours until it uses another.
 */
export async function judgeWallet(
  { store, observe }: OrdersContext,
  submitter: SubmitterState,
  { hash, nonce }: { hash: Hash; nonce: number },
): Promise<void> {
  const { reader, nonces } = submitter
  const { value } = nonces
  if (value.ignoresNonce === true) return
  const sent = await getSentNonce(reader, hash)
  if (sent === undefined || sent === null) return
  const ignoresNonce = sent !== nonce
  // Ask twice, because the result is never revised and a single answer may be
  // wrong.
  if (ignoresNonce && (await getSentNonce(reader, hash)) !== sent) return
  if (!ignoresNonce) submitter.walletMemory.rememberKept(hash)
  if (ignoresNonce === value.ignoresNonce) return
  const { submitter: at } = submitter.wallet
  const next = { ...value, ignoresNonce }
  await store.write((tables) => tables.setValue(submitterKey(at), next), {
    lease: submitter.lease,
  })
  nonces.keep(next)
  if (!ignoresNonce) return
  observe({
    name: 'submitter.waits',
    attributes: { ...at, reason: 'ignoresNonce' },
  })
}

/**
 * Reads the account nonce of a transaction. Returns `null` if the node does not
 * have the transaction, `undefined` if it does not answer.
 */
async function getSentNonce(
  client: Client,
  hash: Hash,
): Promise<number | null | undefined> {
  const method = 'eth_getTransactionByHash'
  const { result, failure } = await tryRequest(client, method, [hash])
  if (failure) return undefined
  if (result === null) return null
  const { nonce } = Object(result)
  return /^0x[\da-f]{1,12}$/i.test(String(nonce)) ? Number(nonce) : undefined
}
