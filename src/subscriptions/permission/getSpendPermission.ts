import { type Client, decodeFunctionResult, encodeFunctionData } from 'viem'
import { parseBlock } from '../../chain/logs/encodeLogFilter.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { isTrue, isWord } from '../../chain/state/executor.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { runCreated } from '../../chain/state/runCreated.js'
import type { Call, CallAnswer } from '../../chain/state/types.js'
import { checkMembers } from '../../core/checkMembers.js'
import { neutralCaller } from '../../payments/verify/rehearse.js'
import { parseSpendPermission } from './parseSpendPermission.js'
import { findPeriod } from './periodAt.js'
import { spendPermissionAbi as abi } from './spendPermissionAbi.js'
import { toStruct } from './spendPermissionTypedData.js'
import type {
  SpendPeriod,
  SpendPermission,
  SpendPermissionMessage,
} from './types.js'

/** The permission and the block to ask about. */
export type GetSpendPermissionParameters = {
  permission: SpendPermission
  /** The block whose state is read. @default 'latest' */
  block?: BlockSelector | undefined
}

/**
 * State of a permission in the `SpendPermissionManager` contract at one block.
 */
export type SpendPermissionState = {
  /** The manager stores the approval. Stays true after a revocation. */
  approved: boolean
  /** Account or spender revoked the permission for good. */
  revoked: boolean
  /**
   * The current period, with `spent` and `left` in token units. Absent before
   * the first period and after the last.
   */
  period: (SpendPeriod & { spent: bigint; left: bigint }) | undefined
  /**
   * Block number as contracts see it: on Arbitrum, that of an Ethereum block.
   */
  block: bigint
  /** Time of that block, Unix seconds. */
  time: bigint
}

/**
 * Asks the manager about a permission, in one request.
 *
 * @throws {@link InvalidFieldError} when permission or block are malformed.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or the chain has
 * no such manager.
 *
 * @example
 * ```ts
 * import { getSpendPermission, type SpendPermission } from 'countersign/subscriptions'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function leftToCharge(permission: SpendPermission) {
 *   const { approved, revoked, period } = await getSpendPermission(client, {
 *     permission,
 *   })
 *   return approved && !revoked ? (period?.left ?? 0n) : 0n
 * }
 * ```
 */
export async function getSpendPermission(
  client: Client,
  parameters: GetSpendPermissionParameters,
): Promise<SpendPermissionState> {
  checkMembers(parameters, ['permission', 'block'])
  const { permission: given, block = 'latest' }: GetSpendPermissionParameters =
    Object(parameters)
  const permission = parseSpendPermission(given)
  const { head, calls } = await runCalls(client, {
    from: neutralCaller,
    calls: stateCalls(permission),
    block: parseBlock(block),
    fallback: runCreated,
  })
  if (!isWord(calls.approved) || !isWord(calls.revoked))
    throw new NodeAnswerError({
      method: 'eth_call',
      problem: 'does not come from a SpendPermissionManager contract',
    })
  const { message } = permission
  return {
    approved: isTrue(calls.approved),
    revoked: isTrue(calls.revoked),
    period: currentPeriod(message, calls.last, head.timestamp),
    block: head.number,
    time: head.timestamp,
  }
}

const stateGas = 100_000

export function stateCalls({
  domain,
  message,
}: SpendPermission): Record<'approved' | 'revoked' | 'last', Call> {
  const ask = (
    functionName: 'isApproved' | 'isRevoked' | 'getLastUpdatedPeriod',
  ): Call => ({
    target: domain.verifyingContract,
    data: encodeFunctionData({
      abi,
      functionName,
      args: [toStruct(message)],
    }).slice(2),
    gas: stateGas,
  })
  return {
    approved: ask('isApproved'),
    revoked: ask('isRevoked'),
    last: ask('getLastUpdatedPeriod'),
  }
}

/** The period that contains `time`, with its amounts spent and left. */
export function currentPeriod(
  message: SpendPermissionMessage,
  answer: CallAnswer,
  time: bigint,
): SpendPermissionState['period'] {
  const period = findPeriod(message, time)
  if (!period) return undefined
  if (!answer.ok || answer.data.length !== 194)
    throw new NodeAnswerError({
      method: 'eth_call',
      problem: 'does not come from a SpendPermissionManager contract',
    })
  const last = decodeFunctionResult({
    abi,
    functionName: 'getLastUpdatedPeriod',
    data: answer.data,
  })
  const spent = time < BigInt(last.end) ? last.spend : 0n
  return { ...period, spent, left: message.allowance - spent }
}
