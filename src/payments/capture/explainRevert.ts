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
import {
  authorizationCall,
  type OutcomeKind,
} from '../../chain/state/getPaymentOutcome.js'
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
import type { SigningKind } from '../message/kind.js'
import { refine } from '../verify/judgeRehearsal.js'
import { factCalls } from '../verify/rehearse.js'
import { CaptureRevertedError } from './errors.js'

type FailedReceipt = {
  transactionHash: Hash
  blockNumber: bigint
  gasUsed: bigint
}

type Explained = {
  payment: AnyPayment
  /** Kind of the payment. @default EIP-3009 */
  kind?:
    | (Pick<OutcomeKind, 'spentCall'> & Partial<Pick<SigningKind, 'accounts'>>)
    | undefined
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
  explained: Explained,
): Promise<CaptureRevertedError> {
  try {
    return await repeatFailed(client, receipt, explained)
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
  explained: Explained,
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
    reason: await refineAt(client, refusal.reason, explained, blockNumber),
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
  { payment, kind }: Explained,
  blockNumber: bigint,
): Promise<RefusalReason> {
  const { domain, message } = payment
  const { from: payer, to } = message
  const { spentCall = authorizationCall, accounts } = kind ?? {}
  const { recipient = to } = accounts?.(payment) ?? {}
  const call = {
    domain,
    payer,
    spentCall: spentCall(payment),
    signature: '0x',
    transfer: { ...message, to: recipient },
  } as const
  const facts = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    block: blockNumber,
    calls: factCalls(domain.verifyingContract, call),
  })
  return refine(reason, call, facts)
}
