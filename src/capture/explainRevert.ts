import type { Client, Hash } from 'viem'
import {
  type RefusalReason,
  type RevertReason,
  readRefusal,
} from '../base/revertReason.js'
import { selectors } from '../base/tokenAbi.js'
import type { Payment } from '../base/types.js'
import { word } from '../base/words.js'
import { isTrue } from '../reads/answers.js'
import { prober } from '../reads/getToken.js'
import { runCalls } from '../reads/runCalls.js'
import { runPlainCalls } from '../reads/runPlainCalls.js'
import { isPassing, NodeError } from '../rpc/errors.js'
import {
  encodeBlock,
  readQuantity,
  requestNode,
  tryRequest,
} from '../rpc/requestNode.js'
import { CaptureRevertedError } from './errors.js'

type FailedReceipt = {
  transactionHash: Hash
  blockNumber: bigint
  gasUsed: bigint
}

/**
 * Plays a failed transaction again on the state after its block, which still
 * holds what made it fail.
 */
export async function explainRevert(
  client: Client,
  receipt: FailedReceipt,
  payment: Payment,
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
  if (failure && isPassing(failure) && !replayed)
    throw new NodeError({ method, failure })
  const told: { reason?: RevertReason; words?: string } = failure
    ? readRefusal(failure)
    : {}
  return new CaptureRevertedError({
    transactionHash,
    reason: await refine(client, told.reason, { payment, blockNumber }),
    words: told.words,
  })
}

/** A call that is cut off leaves less than the 64th it keeps per level. */
function ranOutOfGas(gas: unknown, { gasUsed }: FailedReceipt): boolean {
  const limit = readQuantity(gas ?? '0x0', 'eth_getTransactionByHash')
  return limit > 0n && gasUsed * 100n > limit * 96n
}

/** Finds out which account is blocked, and which bound was missed. */
async function refine(
  client: Client,
  reason: RevertReason = 'simulationFailed',
  { payment, blockNumber }: { payment: Payment; blockNumber: bigint },
): Promise<RefusalReason> {
  if (reason !== 'blocked' && reason !== 'outsideWindow') return reason
  const { from, validAfter } = payment.message
  const target = payment.domain.verifyingContract
  const ask = (selector: string) => ({
    target,
    data: selector + word(from),
    gas: 100_000,
  })
  const { head, calls } = await runCalls(client, {
    from: prober,
    fallback: runPlainCalls,
    block: blockNumber,
    calls: {
      blacklisted: ask(selectors.isBlacklisted),
      frozen: ask(selectors.isFrozen),
    },
  })
  if (reason === 'outsideWindow')
    return head.timestamp <= validAfter ? 'notYetValid' : 'expired'
  return isTrue(calls.blacklisted) || isTrue(calls.frozen)
    ? 'payerBlocked'
    : 'recipientBlocked'
}
