import type { Address, Client } from 'viem'
import { hasCode } from '../../chain/state/hasCode.js'
import type { AnySignedPayment, VerifiedAt } from '../../core/types.js'
import { gasLimit } from '../../payments/capture/planTransaction.js'
import { wrongChain } from '../../payments/verify/judgeRehearsal.js'
import { rehearsePayments } from '../../payments/verify/rehearsePayments.js'
import type { Rehearsal } from '../../payments/verify/types.js'
import type { OrderRecord } from '../../store/types.js'
import { checkChainClock } from '../model/checkChainClock.js'
import { OrdersSetupError } from '../model/errors.js'
import { kindOf } from '../model/kindOf.js'
import { senderOf } from '../model/sendersOf.js'
import type {
  AcceptVerdict,
  OrdersContext,
  OrderWallet,
} from '../model/types.js'
import type { rehearseGathered } from './rehearseGathered.js'
import { getSubmitterFunds, keepGas } from './submitterFunds.js'

/** The chain's verdict on a payment, and the gas reserved for it. */
export type AcceptJudgement =
  | {
      ok: true
      at: VerifiedAt
      /** Token units the payer has. */
      balance: bigint
      /** The account that sends the payment's capture. */
      submitter: Address
      /** The block at which the rehearsal passed. */
      head: Rehearsal['head']
      /** Gas limit of its capture. */
      gas: bigint
      /** Releases the gas that was reserved for its capture. */
      release: () => void
    }
  | Extract<AcceptVerdict, { ok: false }>

/**
 * Rehearses the capture of a payment and reads the balance that pays its gas. A
 * batching transport sends all as one request.
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
      kind: kindOf(context, order),
      origin: wallet.submitter.account,
      maxGas: policy.maxCaptureGas,
    }),
    // Read now, so that the request is part of the same batch.
    getSubmitterFunds(context, wallet, client),
    policy.contractPayers === 'refuse' && hasCode(client, payment.message.from),
  ])
  const [rehearsal] = rehearsed.rehearsals
  const [balance = 0n] = rehearsed.payerBalances
  if (!rehearsal) throw new OrdersSetupError('got no rehearsal of a payment')
  checkChainClock(context, rehearsal.head)
  const refused = checkRehearsal(context, payment, rehearsal)
  if (refused) return refused
  if (isContract) return { ok: false, reason: 'contractPayer', details: {} }
  const gas = gasLimit(rehearsal, policy.maxCaptureGas)
  const kept = await keepGas(context, wallet, client, gas)
  if (!kept.ok) return { ...kept, reason: 'submitterFunds' }
  const { at, head } = rehearsal
  return {
    ok: true,
    at,
    head,
    balance,
    gas,
    submitter: wallet.submitter.account,
    release: kept.release,
  }
}

function checkRehearsal(
  { policy }: OrdersContext,
  { message }: AnySignedPayment,
  rehearsal: Rehearsal,
): Extract<AcceptVerdict, { ok: false }> | undefined {
  const { at } = rehearsal
  if (!rehearsal.ok) {
    const { reason, words } = rehearsal
    // The payment has the order's chain, so the node is on the wrong chain.
    if (reason === 'wrongChain') throw wrongChain(rehearsal)
    return { ok: false, reason, details: { at, ...(words ? { words } : {}) } }
  }
  const remaining = message.validBefore - at.time
  const minRemaining = policy.safetyMargin
  // With this little time left, it would be accepted but never sent.
  return remaining <= minRemaining
    ? {
        ok: false,
        reason: 'expiresTooSoon',
        details: { at, remaining, minRemaining },
      }
    : undefined
}

/**
 * Returns the client for an order, and the wallet that sends for it. If the
 * wallet of the draft was removed, returns another wallet that may send it, if
 * there is one.
 *
 * @throws {@link OrdersSetupError} when this instance does not have its token.
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
