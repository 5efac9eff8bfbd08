import { NodeAnswerError } from '../../chain/rpc/errors.js'
import type { Rehearsal } from './types.js'

/**
 * The error for a node that answers for the wrong chain. Use it only once the
 * payment's chain was compared with the order's: then the answer says nothing
 * about the payment.
 */
export function wrongChain({ head }: Rehearsal): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_call',
    problem: `is of chain ${head.chainId}, another one than the payment's`,
  })
}
