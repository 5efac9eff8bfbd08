import { NodeAnswerError } from '../rpc/errors.js'
import type { Rehearsal } from './types.js'

/**
 * The fault of a node that answers for another chain than the payment names,
 * where that chain was compared with the order's before: it says nothing about
 * the payment.
 */
export function wrongChain({ head }: Rehearsal): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_call',
    problem: `is of chain ${head.chainId}, another one than the payment's`,
  })
}
