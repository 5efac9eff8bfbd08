import type { Address, Client } from 'viem'
import { redeemGas } from '../../batches/keys/redeemCall.js'
import { hasCode } from '../../chain/state/hasCode.js'
import type { AnySignedPayment, VerifiedAt } from '../../core/types.js'
import { gasLimit } from '../../payments/capture/planTransaction.js'
import { wrongChain } from '../../payments/verify/judgeRehearsal.js'
import { rehearsePayments } from '../../payments/verify/rehearsePayments.js'
import type { Rehearsal } from '../../payments/verify/types.js'
import type { OrderRecord } from '../../store/types.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { OrdersSetupError } from '../model/errors.js'
import { signedKindOf } from '../model/kindOf.js'
import {
  capturesByKey,
  senderOf,
  sendersOf,
  sendingOf,
} from '../model/sendersOf.js'
import type { AcceptVerdict } from '../model/types.js'
import type { rehearseGathered } from './rehearseGathered.js'
import { getSubmitterFunds, keepGas } from './submitterFunds.js'

/** The node's verdict on a payment, and the gas reserved for its capture. */
export type AcceptJudgement =
  | {
      ok: true
      at: VerifiedAt
      /** The payer's balance in token units. */
      balance: bigint
      /** The account that sends the payment's capture. */
      submitter: Address
      /** The block at which the simulated capture succeeded. */
      head: Rehearsal['head']
      /** Gas limit of the payment's capture. */
      gas: bigint
      /**
       * Frees the gas that was reserved for the capture, for other payments.
       */
      release: () => void
    }
  | Extract<AcceptVerdict, { ok: false }>

/**
 * Simulates the capture of a payment, and reads the balance of the account that
 * would pay its gas. With a batching transport, all this is one HTTP request.
 *
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
 * s.
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its answer is malformed.
 */
export async function judgeAccept(
  context: OrdersContext,
  order: OrderRecord,
  payment: AnySignedPayment,
  rehearse: typeof rehearseGathered = rehearsePayments,
): Promise<AcceptJudgement> {
  const { policy } = context
  const { client, wallet } = serverOf(context, order)
  if (!wallet) {
    const { chainId, submitter } = order
    return { ok: false, reason: 'noWallet', details: { chainId, submitter } }
  }
  const [rehearsed, , isContract] = await Promise.all([
    rehearse(client, {
      payments: [payment],
      kind: signedKindOf(context, order),
      origin: wallet.submitter.account,
      maxGas: policy.maxCaptureGas,
    }),
    // Start this request now, so that it joins the same batch as the others.
    getSubmitterFunds(context, wallet, client),
    policy.contractPayers === 'refuse' && hasCode(client, payment.message.from),
  ])
  const [rehearsal] = rehearsed.rehearsals
  const [balance] = rehearsed.payerBalances
  if (!rehearsal || balance === undefined)
    throw new OrdersSetupError('got no rehearsal of a payment')
  checkChainClock(context, rehearsal.head)
  const refused = checkRehearsal(context, payment, rehearsal)
  if (refused) return refused
  if (isContract) return { ok: false, reason: 'contractPayer', details: {} }
  const plain = gasLimit(rehearsal, policy.maxCaptureGas)
  const paid = await findPaid(context, order, { wallet, client, plain })
  if (!paid.ok) return { ...paid, reason: 'submitterFunds' }
  const { at, head } = rehearsal
  return { ...paid, at, head, balance }
}

/**
 * Reserves gas of the order's wallet; if that has too little, of another that
 * may send the payment. So a key without gas, such as a stolen one, refuses no
 * buyer while others have some.
 */
async function findPaid(
  context: OrdersContext,
  order: OrderRecord,
  {
    wallet,
    client,
    plain,
  }: { wallet: OrderWallet; client: Client; plain: bigint },
): Promise<
  | Pick<
      Extract<AcceptJudgement, { ok: true }>,
      'ok' | 'gas' | 'submitter' | 'release'
    >
  | Extract<Awaited<ReturnType<typeof keepGas>>, { ok: false }>
> {
  const gasOf = (one: OrderWallet): bigint =>
    one.key && capturesByKey(one, order) ? plain + redeemGas(one.key) : plain
  const gas = gasOf(wallet)
  const kept = await keepGas(context, wallet, client, gas)
  const { account: submitter } = wallet.submitter
  if (kept.ok) return { ...kept, gas, submitter }
  const sending = sendingOf(order)
  if (sending !== 'transfer' && sending !== 'receive') return kept
  for (const other of sendersOf(context, order, sending)) {
    if (other === wallet) continue
    const more = gasOf(other)
    const found = await keepGas(context, other, client, more)
    const { account } = other.submitter
    if (found.ok) return { ...found, gas: more, submitter: account }
  }
  return kept
}

function checkRehearsal(
  { policy }: OrdersContext,
  { message }: AnySignedPayment,
  rehearsal: Rehearsal,
): Extract<AcceptVerdict, { ok: false }> | undefined {
  const { at } = rehearsal
  if (!rehearsal.ok) {
    const { reason, words } = rehearsal
    // The payment names the order's chain, so the node itself is on another
    // chain: a configuration error, not the buyer's fault.
    if (reason === 'wrongChain') throw wrongChain(rehearsal)
    return { ok: false, reason, details: { at, ...(words ? { words } : {}) } }
  }
  const remaining = message.validBefore - at.time
  const minRemaining = policy.safetyMargin
  // With less time than this until it expires, the payment would be accepted
  // but never sent.
  return remaining <= minRemaining
    ? {
        ok: false,
        reason: 'expiresTooSoon',
        details: { at, remaining, minRemaining },
      }
    : undefined
}

/**
 * Returns the client of an order's chain, and the wallet that sends for the
 * order. If the wallet chosen at the draft was removed, returns another one
 * that may send for it, if there is one.
 *
 * @throws {@link OrdersSetupError} when this instance lacks the order's token.
 */
export function serverOf(
  context: OrdersContext,
  order: OrderRecord,
): { client: Client; wallet: OrderWallet | undefined } {
  const { id, chainId, token } = order
  const known = context.tokens.find(
    (one) => one.chainId === chainId && one.token === token,
  )
  if (known) return { client: known.client, wallet: senderOf(context, order) }
  throw new OrdersSetupError(
    `have no token ${token} on chain ${chainId}: add it to tokens`,
    {
      orderId: id,
    },
  )
}
