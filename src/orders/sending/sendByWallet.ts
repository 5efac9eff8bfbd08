import type { Hash } from 'viem'
import { endingClient } from '../../chain/rpc/endingClient.js'
import { SendError } from '../../payments/capture/errors.js'
import { sendFromWallet } from '../../payments/capture/sendTransaction.js'
import { SigningDeclinedError } from '../../payments/sign/errors.js'
import { ordersOf } from '../../store/movements.js'
import type { OrderReason, TransactionRecord } from '../../store/types.js'
import { writeAgain } from '../../store/writeAgain.js'
import { nextBump } from '../account/inFlight.js'
import { keepSubmitter } from '../account/openSubmitter.js'
import { type SubmitterState, submitterKey } from '../account/submitterState.js'
import { judgeWallet } from '../account/watchWallet.js'
import type { OrdersContext } from '../context/types.js'
import { apply, type Input, rulesOf } from '../model/apply.js'
import { writeChanges } from '../model/changes.js'
import { collectChanges } from '../model/collectChanges.js'
import { loadOrders } from '../model/loadOrders.js'
import { movementsBy } from './dueTransaction.js'
import { callFeesOf, type SubmitterFees } from './feesOf.js'
import { planRecord } from './recordSigned.js'
import type { DueDraft } from './rehearseDue.js'
import { type RowDraft, rowOf } from './signDrafts.js'

/**
 * Asks a wallet that signs and sends by itself for one draft after the other.
 * Stores each draft with its nonce before it asks. Never asks twice for the
 * same draft, unless the wallet clearly sent nothing.
 */
export async function sendByWallet(
  context: OrdersContext,
  submitter: SubmitterState,
  drafts: readonly DueDraft[],
  fees: SubmitterFees,
): Promise<number> {
  let sent = 0
  for (const draft of drafts) {
    await keepSubmitter(submitter)
    const row = await recordUnsent(context, submitter, draft, fees)
    if (!row) continue
    sent++
    if (!(await askToSend(context, submitter, row, { ...draft, fees }))) break
    // Until the wallet has used a nonce that we gave it, ask for one
    // transaction only, because later ones could get wrong nonces.
    const { nonces, walletMemory } = submitter
    if (nonces.value.ignoresNonce !== false || walletMemory.isResting('order'))
      break
  }
  return sent
}

/** Stores a transaction before the wallet is asked to send it. */
async function recordUnsent(
  context: OrdersContext,
  submitter: SubmitterState,
  draft: DueDraft,
  fees: SubmitterFees,
): Promise<TransactionRecord | undefined> {
  const { order, attempt } = draft.stored
  const { nonces, inFlight, broadcasts, pace } = submitter
  const { nextNonce: nonce } = nonces.value
  const at = submitter.wallet.submitter
  const value = nonces.valueAfter({ added: 1, headTime: pace.time })
  const row = await writeAgain(
    context,
    async (tables) => {
      const [now] = await tables.orders.find({ ids: [order.id] })
      if (now?.version !== order.version) return undefined
      // If the wallet refused this nonce before, the store has a row at it
      // already, so use the next `bump`.
      const bump = nextBump(await tables.transactions.find({ at, nonce }))
      const row = rowOf(
        {
          kind: draft.kind,
          call: draft.call,
          gas: draft.gas,
          nonce,
          bump,
          fees,
          movements: movementsBy({ drafts: [draft] }),
        },
        at,
        context.now(),
      )
      const rules = rulesOf(context)
      const changes = planRecord([draft], [{ row }], rules)
      await writeChanges(tables, changes, rules.at)
      await tables.setValue(submitterKey(at), value)
      return { ...row, version: 1 }
    },
    { lease: submitter.lease },
  )
  if (!row) return undefined
  nonces.keep(value)
  inFlight.add([row])
  broadcasts.noteSent([nonce], pace.looks)
  inFlight.rememberEnds(attempt)
  return row
}

/** Milliseconds that a poll waits for a wallet before it goes on. */
const patience = 500

/**
 * Asks the wallet once to send a transaction that is stored already. Returns
 * `false` when the wallet clearly sent nothing, or has not answered yet.
 */
export async function askToSend(
  context: OrdersContext,
  submitter: SubmitterState,
  row: TransactionRecord,
  { call, gas, fees }: Pick<RowDraft, 'call' | 'gas' | 'fees'>,
): Promise<boolean> {
  submitter.walletAsk.begin(
    row,
    sendByAccount(context, submitter, row, { call, gas, fees }),
  )
  return storeAnswer(context, submitter, patience)
}

/**
 * Stores what the wallet answered to the last request, if it has answered.
 * Returns `false` when the wallet clearly sent nothing, or has not answered.
 */
export async function storeAnswer(
  context: OrdersContext,
  submitter: SubmitterState,
  patience: number,
): Promise<boolean> {
  const { walletAsk, walletMemory, inFlight } = submitter
  const taken = await walletAsk.take(patience)
  if (!taken) return false
  const { answer } = taken
  const { nonce, bump } = taken.row
  // Polls went on meanwhile, and the chain may have shown more by now.
  const row = inFlight.rows.find(
    (one) => one.nonce === nonce && one.bump === bump && !one.hash,
  )
  if ('hash' in answer) {
    // The wallet has sent the transaction. A failure after this line must not
    // make the nonce available again.
    walletMemory.endRests()
    if (row) await recordHash(context, submitter, row, answer.hash)
    return true
  }
  const { error } = answer
  if (Object(error).maybeSent === true) {
    walletMemory.rest(askedFor(taken.row), context.policy.bumpAfter)
    return true
  }
  if (row) await recordRefusal(context, submitter, row, error)
  const isRefused =
    error instanceof SendError || error instanceof SigningDeclinedError
  if (!isRefused) throw error
  return false
}

const askedFor = ({ kind }: TransactionRecord) =>
  kind === 'filler' ? 'filler' : 'order'

/**
 * Asks the wallet to send a transaction. A wallet that does not answer in time
 * may still have sent it.
 */
function sendByAccount(
  { policy: { walletTimeout } }: OrdersContext,
  { wallet: { client, account, submitter } }: SubmitterState,
  { nonce }: TransactionRecord,
  { call, gas, fees }: Pick<RowDraft, 'call' | 'gas' | 'fees'>,
): Promise<Hash> {
  const { chainId } = submitter
  const patient = endingClient(client, AbortSignal.timeout(walletTimeout))
  return sendFromWallet(patient, account, {
    to: call.to,
    data: call.data,
    chainId,
    gas,
    nonce,
    ...callFeesOf(fees),
  })
}

async function recordHash(
  context: OrdersContext,
  submitter: SubmitterState,
  row: TransactionRecord,
  hash: Hash,
): Promise<void> {
  const lower = hash.toLowerCase() as Hash
  const known = { ...row, hash: lower }
  await context.store.write((tables) => tables.transactions.update([known]), {
    lease: submitter.lease,
  })
  submitter.inFlight.update(row, { ...known, version: known.version + 1 })
  await judgeWallet(context, submitter, { hash: lower, nonce: row.nonce })
}

/**
 * Stores that the wallet sent nothing. If there is no other transaction at its
 * nonce, the nonce and the order can be used again.
 */
async function recordRefusal(
  context: OrdersContext,
  submitter: SubmitterState,
  row: TransactionRecord,
  error: unknown,
): Promise<void> {
  const { nonces, inFlight } = submitter
  const { nextNonce } = nonces.value
  // An earlier transaction at the same nonce may still decide the order.
  const isReplacement = inFlight.rows.some(
    (one) => one !== row && one.nonce === row.nonce,
  )
  const isFree = nextNonce === row.nonce + 1 && !isReplacement
  const value = {
    ...nonces.value,
    nextNonce: isFree ? row.nonce : nextNonce,
  }
  const reason = refusalOf(error)
  const rules = rulesOf(context)
  const input: Input = reason ? { kind: 'refused', reason } : { kind: 'freed' }
  await writeAgain(
    context,
    async (tables) => {
      const ids = ordersOf([row])
      const collected = collectChanges(await loadOrders(tables, { ids }))
      collected.add({ transactions: [{ ...row, inFlight: false }] })
      if (row.kind !== 'filler' && !isReplacement)
        for (const one of row.movements) {
          const stored = collected.find(one.orderId, one.attempt)
          if (stored) collected.add(apply(stored, input, rules))
        }
      await writeChanges(tables, collected.close(), rules.at)
      await tables.setValue(submitterKey(submitter.wallet.submitter), value)
    },
    { lease: submitter.lease },
  )
  nonces.keep(value)
  inFlight.remove(row)
  // Pause before the next request: the next poll would otherwise ask the wallet
  // again at once.
  if (reason === undefined || row.kind === 'filler')
    submitter.walletMemory.rest(askedFor(row), context.policy.bumpAfter)
  context.observe({
    name: 'submitter.waits',
    attributes: {
      ...submitter.wallet.submitter,
      reason: reason ?? 'walletUnavailable',
    },
  })
}

/**
 * Returns why a wallet sent nothing; `undefined` if another try may succeed.
 */
function refusalOf(error: unknown): OrderReason | undefined {
  if (error instanceof SigningDeclinedError) return 'signingDeclined'
  const isPoor = /funds|balance/i.test(String(Object(error).message))
  return error instanceof SendError && !isPoor ? 'walletRefused' : undefined
}
