import type { BlockTag, Client, Hash, Hex } from 'viem'
import { getLogs } from '../../chain/logs/getLogs.js'
import { standsInBlock } from '../../chain/logs/standsInBlock.js'
import { askInChunks } from '../../chain/rpc/askInChunks.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { requestNode } from '../../chain/rpc/requestNode.js'
import { getReceipts } from '../../chain/state/getReceipt.js'
import { checkMembers } from '../../core/checkMembers.js'
import type { ProofReceipt } from '../../core/receiptProof.js'
import { parseSpendPermission } from '../permission/parseSpendPermission.js'
import { spendCall } from '../permission/spendCalls.js'
import type { SpendPermission } from '../permission/types.js'
import { findUses, type PermissionUse, usedTopics } from './findUses.js'

/** Parameters of {@link findCharges}. */
export type FindChargesParameters = {
  permission: SpendPermission
  /**
   * First block to search. Pass the block of the approval or an earlier one: no
   * charge can come before it.
   */
  fromBlock: bigint
  /** Last block to search. @default 'latest' */
  toBlock?: bigint | BlockTag | undefined
  /** Most blocks in one log request. @default 2000n */
  maxBlockRange?: bigint | undefined
}

/** A charge that was found on the chain. */
export type FoundCharge = PermissionUse & {
  /**
   * Mark of the charge: `markOf(chargeId)`, the hash of its id. Absent if the
   * transaction is not a `spend` call followed by a mark: then another program
   * sent it.
   */
  mark: Hex | undefined
  transactionHash: Hash
  blockHash: Hash
  blockNumber: bigint
}

/**
 * Finds each charge of a permission on the chain, oldest first. Needs no
 * database: it reads the manager's events, then the inputs and receipts of
 * their transactions. Each charge carries its mark there.
 *
 * Use it after you lost records, before you send a charge again. Cannot find a
 * transaction that is not mined yet.
 *
 * @throws {@link InvalidFieldError} when permission or range are malformed.
 * @throws {@link LogRangeError} when the node refuses even one block.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed, or its blocks
 * changed meanwhile.
 *
 * @example
 * ```ts
 * import { findCharges, markOf, type SpendPermission } from 'countersign/subscriptions'
 * import { createReadClient } from 'countersign/reads'
 *
 * const client = createReadClient({ url: 'https://mainnet.base.org' })
 *
 * export async function wasCharged(permission: SpendPermission, chargeId: string) {
 *   const charges = await findCharges(client, { permission, fromBlock: 30_000_000n })
 *   return charges.some(({ mark }) => mark === markOf(chargeId))
 * }
 * ```
 */
export async function findCharges(
  client: Client,
  parameters: FindChargesParameters,
): Promise<FoundCharge[]> {
  checkMembers(parameters, [
    'permission',
    'fromBlock',
    'toBlock',
    'maxBlockRange',
  ])
  const given: FindChargesParameters = Object(parameters)
  const { fromBlock, toBlock = 'latest', maxBlockRange } = given
  const permission = parseSpendPermission(given.permission)
  const logs = await getLogs(client, {
    address: permission.domain.verifyingContract,
    topics: usedTopics(permission),
    fromBlock,
    toBlock,
    maxBlockRange,
  })
  const found = new Map(logs.map((log) => [log.transactionHash, log]))
  const hashes = [...found.keys()]
  const [receipts, inputs] = await Promise.all([
    getReceipts(client, hashes),
    getInputs(client, hashes),
  ])
  return hashes.flatMap((hash, index) => {
    const receipt = receipts[index]
    const { blockNumber, blockHash } = found.get(hash) ?? {}
    const block = { number: blockNumber, hash: blockHash }
    if (!receipt || !standsInBlock(receipt, block))
      throw new NodeAnswerError({
        method: 'eth_getTransactionReceipt',
        problem:
          'names another block than the log of the charge: a reorganization happened in between, so read again',
      })
    return chargesOf(permission, receipt, inputs[index] ?? '0x')
  })
}

function chargesOf(
  permission: SpendPermission,
  receipt: ProofReceipt,
  input: Hex,
): FoundCharge[] {
  const { transactionHash, blockHash, blockNumber } = receipt
  return findUses(receipt, permission).map((use) => ({
    ...use,
    mark: parseMark(permission, use.value, input),
    transactionHash,
    blockHash,
    blockNumber,
  }))
}

/** Hex digits of a mark. */
const markLength = 64

/**
 * Returns the mark if the input is exactly this `spend` call, followed by 32
 * bytes: the mark.
 */
function parseMark(
  permission: SpendPermission,
  value: bigint,
  input: Hex,
): Hex | undefined {
  const expected = spendCall(permission, { value, chargeId: '' }).data
  const isSpend =
    input.length === expected.length &&
    input.slice(0, -markLength) === expected.slice(0, -markLength)
  return isSpend ? `0x${input.slice(-markLength)}` : undefined
}

function getInputs(
  client: Client,
  hashes: readonly Hash[],
): Promise<readonly Hex[]> {
  const method = 'eth_getTransactionByHash'
  return askInChunks(hashes, async (hash) => {
    const answer = Object(await requestNode(client, method, [hash]))
    const input: unknown = answer.input
    if (typeof input === 'string' && /^0x[\da-f]*$/i.test(input))
      return `0x${input.slice(2).toLowerCase()}` as const
    throw new NodeAnswerError({ method, problem: 'has no input' })
  })
}
