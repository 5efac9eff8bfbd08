import type { CallFees } from '../../chain/state/types.js'
import type { DecidedFees } from '../../payments/capture/planTransaction.js'
import type { SubmitterView } from './getSubmitterView.js'

/** Fee fields of a transaction, and what the record says of them. */
export type SubmitterFees = {
  fields: DecidedFees
  /** Wei per gas; a gas price where the chain has no base fee. */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** Wei per gas, where a node suggests none. */
const usualTip = 1_000_000n

/** Enough for a base fee that doubles, by what the node reports. Pure. */
export function feesOf(
  view: Pick<SubmitterView, 'head' | 'tip' | 'gasPrice'>,
): SubmitterFees {
  const { head, gasPrice } = view
  const { baseFeePerGas } = head
  if (baseFeePerGas === undefined) return legacyFees(gasPrice)
  const tip = view.tip ?? usualTip
  return dynamicFees(2n * baseFeePerGas + tip, tip)
}

/**
 * Fees by which nodes let a transaction take the place of another one: an
 * eighth more for both, and no less than are asked now. Pure.
 */
export function raiseFees(
  last: Pick<SubmitterFees, 'maxFeePerGas' | 'maxPriorityFeePerGas'>,
  now: SubmitterFees,
): SubmitterFees {
  const maxFeePerGas = larger(raised(last.maxFeePerGas), now.maxFeePerGas)
  if (now.fields.type === 'legacy') return legacyFees(maxFeePerGas)
  const tip = larger(
    raised(last.maxPriorityFeePerGas),
    now.maxPriorityFeePerGas,
  )
  return dynamicFees(larger(maxFeePerGas, tip), tip)
}

/** Times what is asked now, beyond which no transaction is raised. */
const most = 10n

/** Whether raised fees have left what the chain asks far behind. Pure. */
export function isExcessive(
  raised: SubmitterFees,
  now: SubmitterFees,
): boolean {
  return raised.maxFeePerGas > most * now.maxFeePerGas
}

/** The fields a rehearsal takes. */
export function callFeesOf({ fields }: SubmitterFees): CallFees {
  const { type: _, ...fees } = fields
  return fees
}

function legacyFees(gasPrice: bigint): SubmitterFees {
  return {
    fields: { type: 'legacy', gasPrice },
    maxFeePerGas: gasPrice,
    maxPriorityFeePerGas: gasPrice,
  }
}

function dynamicFees(maxFeePerGas: bigint, tip: bigint): SubmitterFees {
  const fees = { maxFeePerGas, maxPriorityFeePerGas: tip }
  return { fields: { type: 'eip1559', ...fees }, ...fees }
}

/** An eighth more, rounded up, and a wei for nodes that want more than that. */
const raised = (wei: bigint) => (wei * 9n + 7n) / 8n + 1n

const larger = (one: bigint, other: bigint) => (one > other ? one : other)
