import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { ChainHeads } from '../evidence/readHeads.js'
import type { SettledPolicy } from '../model/types.js'

/** The error if orders cannot reach the finality that the policy asks for. */
export function findFinalityFault(
  { blocks, fulfilAt }: Pick<SettledPolicy, 'blocks' | 'fulfilAt'>,
  {
    safe,
    finalized,
    fault,
  }: {
    [tag in 'safe' | 'finalized']: ChainHeads[tag]
  } & Partial<Pick<ChainHeads, 'fault'>>,
): Error | undefined {
  if (fault || blocks || finalized) return fault
  if (fulfilAt === 'safe' && safe) return undefined
  const tag = fulfilAt === 'safe' ? 'safe' : 'finalized'
  const effect =
    fulfilAt === 'included' ? 'no order becomes final' : 'no order is fulfilled'
  return new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: `names no ${tag} block: set policy.blocks, or ${effect}`,
  })
}
