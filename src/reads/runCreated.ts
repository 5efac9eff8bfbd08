import type { Client } from 'viem'
import { executorCode } from './contracts/Executor.generated.js'
import { NodeAnswerError } from './errors.js'
import { encodeInput, encodeTransaction, gasOf, readRun } from './executor.js'
import { encodeBlock, requestNode } from './requestNode.js'
import type { RawAnswers, RunCallsParameters } from './types.js'

/**
 * Creation code that creates the 181 bytes of the executor behind it, hands it
 * the input behind those by `DELEGATECALL`, and returns what it returned.
 */
const creator =
  '602280380380913d3960be90033d903d9060be803d3df05af43d6000803e3d6000f3' +
  '60b58060093d393df3'

/** For creating twice, and for keeping an answer of a few thousand bytes. */
const creationGas = 2_000_000

/**
 * Runs calls in one request of a node without state overrides, by creating the
 * executor inside it: the calls then come from no account in particular.
 */
export async function runCreated(
  client: Client,
  { from, block, calls }: RunCallsParameters<string>,
): Promise<RawAnswers> {
  const items = Object.values(calls)
  const method = 'eth_call'
  const result = await requestNode(client, method, [
    encodeTransaction({
      from,
      data: creator + executorCode.slice(2) + encodeInput(items),
      gas: gasOf(items) + creationGas,
    }),
    encodeBlock(block),
  ])
  const answers = readRun(result, undefined, items.length)
  if (answers) return { ...answers, head: { ...answers.head, via: 'calls' } }
  throw new NodeAnswerError({ method, problem: 'is not of the executor' })
}
