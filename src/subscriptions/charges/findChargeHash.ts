import type { Client, Hash } from 'viem'
import { getLogs } from '../../chain/logs/getLogs.js'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { getBlockHead } from '../../chain/rpc/requestNode.js'
import { findBlockAt } from '../../chain/state/findBlockAt.js'
import { hashSpendPermission } from '../permission/spendPermissionTypedData.js'
import type { ChargePayment } from './chargePayment.js'
import { markOfId, revokedTopic } from './chargePayment.js'
import { findCharges } from './findCharges.js'

/**
 * Finds the transaction that made a charge, by the charge's mark. If the
 * payment has no `chargeId`, finds the transaction that revoked the permission.
 *
 * @throws {@link NodeError} {@link NodeAnswerError} when the node does not
 * answer, or its blocks changed meanwhile.
 */
export async function findChargeHash(
  client: Client,
  { permission, chargeId }: ChargePayment,
  {
    since,
    fromBlock,
    toBlock,
  }: {
    /** Unix seconds. Earlier blocks cannot contain the transaction. */
    since: bigint
    /** First block to search. @default the first one at or after `since` */
    fromBlock?: bigint | undefined
    /** Last block to search. */
    toBlock: bigint
  },
): Promise<Hash | undefined> {
  const first = fromBlock ?? (await findFirstBlock(client, since, toBlock))
  if (first > toBlock) return undefined
  // Asks for all blocks in one request, because a worker waits for the answer.
  // `getLogs` halves a range that the node refuses.
  const maxBlockRange = toBlock - first + 1n
  const range = { fromBlock: first, toBlock, maxBlockRange }
  if (chargeId === undefined) {
    const [log] = await getLogs(client, {
      address: permission.domain.verifyingContract,
      topics: [revokedTopic, hashSpendPermission(permission)],
      ...range,
    })
    return log?.transactionHash
  }
  const charges = await findCharges(client, { permission, ...range })
  return charges.find(({ mark }) => mark === markOfId(chargeId))
    ?.transactionHash
}

async function findFirstBlock(
  client: Client,
  since: bigint,
  toBlock: bigint,
): Promise<bigint> {
  const head = await getBlockHead(client, toBlock)
  if (head) return findBlockAt(client, since, head)
  throw new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `has no block ${toBlock}`,
  })
}
