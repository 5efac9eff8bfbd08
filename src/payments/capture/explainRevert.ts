import type { Client, Hash } from 'viem'
import {
  classifyFailure,
  isTemporary,
} from '../../chain/rpc/classifyFailure.js'
import { NodeError } from '../../chain/rpc/errors.js'
import {
  encodeBlock,
  parseQuantity,
  requestNode,
  tryRequest,
} from '../../chain/rpc/requestNode.js'
import { prober } from '../../chain/state/getToken.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { runPlainCalls } from '../../chain/state/runPlainCalls.js'
import { CountersignError } from '../../core/CountersignError.js'
import {
  parseRefusal,
  type RefusalReason,
  type RevertReason,
} from '../../core/revertReason.js'
import type { AnyPayment } from '../../core/types.js'
import { refine } from '../verify/judgeRehearsal.js'
import { factCalls } from '../verify/rehearse.js'
import { CaptureRevertedError } from './errors.js'

type FailedReceipt = {
  transactionHash: Hash
  blockNumber: bigint
  gasUsed: bigint
}

/**
 * Finds out why a transaction failed: repeats it with `eth_call` on the state
 * after its block, where the cause still exists. Returns the reason
 * `simulationFailed` if the node cannot repeat it, for example because it no
 * longer has that state.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the failure of the
 * node is temporary.
 */
export async function explainRevert(
  client: Client,
  receipt: FailedReceipt,
  payment: AnyPayment,
): Promise<CaptureRevertedError> {
  try {
    return await repeatFailed(client, receipt, payment)
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    if (error.retryable) throw error
    const { transactionHash } = receipt
    return new CaptureRevertedError({
      transactionHash,
      reason: 'simulationFailed',
    })
  }
}

async function repeatFailed(
  client: Client,
  receipt: FailedReceipt,
  payment: AnyPayment,
): Promise<CaptureRevertedError> {
  const { transactionHash, blockNumber } = receipt
  const sent = Object(
    await requestNode(client, 'eth_getTransactionByHash', [transactionHash]),
  )
  if (ranOutOfGas(sent.gas, receipt))
    return new CaptureRevertedError({ transactionHash, reason: 'gasTooHigh' })
  const method = 'eth_call'
  const { failure } = await tryRequest(client, method, [
    { from: sent.from, to: sent.to, data: sent.input, gas: sent.gas },
    encodeBlock(blockNumber),
  ])
  const replayed = /revert|evm|gas|opcode/i.test(failure?.words ?? '')
  const isGone = failure && classifyFailure(failure) === 'pruned'
  if (failure && (isGone || (isTemporary(failure) && !replayed)))
    throw new NodeError({ method, failure })
  const refusal: { reason: RevertReason; words?: string } = failure
    ? parseRefusal(failure)
    : { reason: 'simulationFailed' }
  return new CaptureRevertedError({
    ...refusal,
    transactionHash,
    reason: await refineAt(client, refusal.reason, { payment, blockNumber }),
  })
}

/**
 * True when over 96% of the gas limit was used: a call that runs out of gas
 * leaves at most a few 64ths of the limit (EIP-150).
 */
function ranOutOfGas(gas: unknown, { gasUsed }: FailedReceipt): boolean {
  const limit = parseQuantity(gas ?? '0x0', 'eth_getTransactionByHash')
  return limit > 0n && gasUsed * 100n > limit * 96n
}

async function refineAt(
  client: Client,
  reason: RevertReason,
  { payment, blockNumber }: { payment: AnyPayment; blockNumber: bigint },
): Promise<RefusalReason> {
  const { domain, message } = payment
  const { from: payer, nonce } = message
  const call = {
    domain,
    payer,
    nonce,
    signature: '0x',
    transfer: message,
  } as const
  const facts = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    block: blockNumber,
    calls: factCalls(domain.verifyingContract, call),
  })
  return refine(reason, call, facts)
}
