import type { SendingCosts } from '../../chain/state/getSubmitterHead.js'
import type { CallFees } from '../../chain/state/types.js'
import type { DecidedFees } from '../../payments/capture/planTransaction.js'
import type { SubmitterView } from '../account/getSubmitterView.js'

/** Fee fields for sending a transaction, and the fees to store with it. */
export type SubmitterFees = {
  fields: DecidedFees
  /**
   * Highest fee in wei per gas; on a chain without a base fee, the gas price.
   */
  maxFeePerGas: bigint
  maxPriorityFeePerGas: bigint
}

/** Priority fee in wei per gas if the node suggests none. */
const usualTip = 1_000_000n

/** Computes fees that are still enough if the base fee doubles. */
export function feesOf(
  { head: { baseFeePerGas } }: Pick<SubmitterView, 'head'>,
  { tip = usualTip, gasPrice }: Pick<SendingCosts, 'tip' | 'gasPrice'>,
): SubmitterFees {
  if (baseFeePerGas === undefined) return legacyFees(gasPrice)
  return dynamicFees(2n * baseFeePerGas + tip, tip)
}

/**
 * Computes fees with which nodes accept a replacement: an eighth higher than
 * the last ones, and not below the current ones.
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

/** Fees are raised up to this multiple of the current fee. */
const most = 10n

/** True when a raised fee exceeds that multiple of the current fee. */
export function isExcessive(
  raised: SubmitterFees,
  now: SubmitterFees,
): boolean {
  return raised.maxFeePerGas > most * now.maxFeePerGas
}

/** Fee fields without `type`, for simulated calls and for wallets. */
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

/**
 * Nodes accept a replacement whose fee is an eighth higher; some require 1 wei
 * more than that.
 */
const raised = (wei: bigint) => (wei * 9n + 7n) / 8n + 1n

const larger = (one: bigint, other: bigint) => (one > other ? one : other)
