import type { Client } from 'viem'
import { NodeAnswerError } from '../rpc/errors.js'
import { encodeBlock, requestNode } from '../rpc/requestNode.js'
import { creatorCode } from './contracts/Creator.generated.js'
import { executorCode } from './contracts/Executor.generated.js'
import {
  encodeInput,
  encodeTransaction,
  gasOf,
  hexOf,
  parseRun,
} from './executor.js'
import type { RawAnswers, RunCallsParameters } from './types.js'

/**
 * Gas to create two contracts, and to store an answer of a few thousand bytes
 * as the code of one of them.
 */
const creationGas = 2_000_000

/**
 * Runs calls in one request on a node without state overrides, by creating the
 * executor contract inside `eth_call`. The calls come from the address of that
 * contract, not from `from`.
 */
export async function runCreated(
  client: Client,
  { from, block, calls }: RunCallsParameters<string>,
): Promise<RawAnswers> {
  const items = Object.values(calls)
  const method = 'eth_call'
  const executor = executorCode.slice(2)
  const result = await requestNode(client, method, [
    encodeTransaction({
      from,
      data:
        creatorCode.slice(2) +
        hexOf(executor.length / 2, 4) +
        executor +
        encodeInput(items),
      gas: gasOf(items) + creationGas,
    }),
    encodeBlock(block),
  ])
  const answers = parseRun(result, undefined, items.length)
  if (answers) return { ...answers, head: { ...answers.head, via: 'calls' } }
  throw new NodeAnswerError({
    method,
    problem: 'is not what the call returns',
  })
}
