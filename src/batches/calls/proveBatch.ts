import type { Address, Hex } from 'viem'
import {
  judgeReceipt,
  type OutcomeKind,
  type PaymentOutcome,
} from '../../chain/state/getPaymentOutcome.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError } from '../../core/errors.js'
import { parsePayment } from '../../core/fields.js'
import { hashText } from '../../core/hashText.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { matches, type ProofReceipt, same } from '../../core/receiptProof.js'
import { parseRevert } from '../../core/revertReason.js'
import type { AnyPayment } from '../../core/types.js'

/** Parameters of {@link proveBatch}. */
export type ProveBatchParameters = {
  /** The payments of the batch, in the order of its calls. */
  payments: readonly AnyPayment[]
  /**
   * The delegated account that ran the batch. With it, the token's error text is
   * found for calls that failed, if the delegate logs it.
   */
  account?: Address | undefined
  /** Pass `checkout` for checkout payments. @default EIP-3009 */
  kind?: OutcomeKind | undefined
}

/** What one transaction did to a payment of its batch. */
export type BatchOutcome =
  | Extract<PaymentOutcome, { status: 'captured' | 'canceled' | 'consumed' }>
  /** The transaction did not use the payment's nonce: its call failed. */
  | {
      status: 'failed'
      /** The token's error text. Only MetaMask's delegate logs it. */
      words: string | undefined
    }

/** A receipt, for example from viem's `waitForTransactionReceipt`. */
export type BatchReceipt = ProofReceipt

/**
 * Reads from the receipt of a batch what became of each payment, in the order of
 * the payments. Decides by the token's own logs alone, because delegates differ
 * in what they log.
 *
 * `failed` says nothing about other transactions: ask `getPaymentOutcome`.
 *
 * @throws {@link InvalidFieldError} when a payment or the account is malformed.
 *
 * @example
 * ```ts
 * import type { SignedPayment } from 'countersign'
 * import { proveBatch } from 'countersign/batches'
 * import type { TransactionReceipt } from 'viem'
 *
 * const captured = (
 *   receipt: TransactionReceipt,
 *   payments: readonly SignedPayment[],
 * ) =>
 *   proveBatch(receipt, { payments }).filter(
 *     ({ status }) => status === 'captured',
 *   )
 * ```
 */
export function proveBatch(
  receipt: BatchReceipt,
  parameters: ProveBatchParameters,
): readonly BatchOutcome[] {
  checkMembers(parameters, ['payments', 'account', 'kind'])
  const { payments, account, kind } = parameters
  if (!Array.isArray(payments))
    throw new InvalidFieldError('payments', payments, 'a list')
  const failures = findFailures(receipt, account)
  const { logs } = receipt
  const firstAt = new Map<string, number>()
  for (const [index, { topics }] of logs.entries())
    for (const topic of topics.slice(1)) {
      const name = topic.toLowerCase()
      if (!firstAt.has(name)) firstAt.set(name, index)
    }
  return payments.map((given: AnyPayment, index): BatchOutcome => {
    const { signature: _, ...unsigned } = Object(given)
    const payment: AnyPayment = kind
      ? kind.parse(unsigned)
      : parsePayment(unsigned)
    // No log about an EIP-3009 payment comes before the first that names its
    // nonce. Skips those before it, which are many in a large batch.
    const first = kind ? 0 : firstAt.get(payment.message.nonce)
    const rest = first === undefined ? [] : logs.slice(first)
    const about = { ...receipt, logs: rest }
    const outcome = judgeReceipt(about, payment, undefined, kind)
    return outcome && isDecided(outcome)
      ? outcome
      : { status: 'failed', words: failures.get(index) }
  })
}

const isDecided = (
  outcome: PaymentOutcome,
): outcome is Exclude<BatchOutcome, { status: 'failed' }> =>
  ['captured', 'canceled', 'consumed'].includes(outcome.status)

/** Finds the errors that the delegate logged, by the index of the call. */
function findFailures(
  { logs }: ProofReceipt,
  account: Address | undefined,
): ReadonlyMap<number, string | undefined> {
  const failures = new Map<number, string | undefined>()
  if (account === undefined) return failures
  const own = parseCheckedAddress(account, 'account')
  const topic = hashText('TryExecuteUnsuccessful(uint256,bytes)')
  for (const log of logs) {
    if (!same(log.address, own) || !matches(log, topic)) continue
    const length = Number(`0x${log.data.slice(130, 194) || 0}`)
    const data: Hex = `0x${log.data.slice(194, 194 + length * 2)}`
    const index = Number(`0x${log.data.slice(2, 66) || 0}`)
    failures.set(index, parseRevert(data).words)
  }
  return failures
}
