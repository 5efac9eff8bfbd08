import type { Client } from 'viem'
import { NodeError } from '../rpc/errors.js'
import { encodeBlock, tryRequest } from '../rpc/requestNode.js'
import { executorCode } from './contracts/Executor.generated.js'
import { encodeInput, encodeTransaction, gasOf, parseRun } from './executor.js'
import type {
  Call,
  CallAnswer,
  CallFees,
  RawAnswers,
  RunAnswers,
  RunCallsParameters,
} from './types.js'

/** Balance that a state override gives the sender: enough for any gas price. */
const richBalance = '0xffffffffffffffffffffffff'

const withoutOverrides = /* @__PURE__ */ new WeakSet<object>()

/** Fees above any base fee, with the usual tip of rollups, in wei per gas. */
const defaultFees: CallFees = {
  maxFeePerGas: 10_000_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
}

/**
 * Runs named calls from an account at one block. Sends one request if the node
 * supports state overrides. Otherwise uses `fallback`, and remembers this for
 * the client.
 *
 * @throws {@link NodeError} when the node does not answer.
 */
export async function runCalls<names extends string>(
  client: Client,
  parameters: RunCallsParameters<names>,
): Promise<RunAnswers<names>> {
  const plain = parameters.plain || withoutOverrides.has(client)
  const tried = plain ? undefined : await runExecutor(client, parameters)
  const { head, steps, calls } =
    tried?.answers ?? (await parameters.fallback(client, parameters))
  // Remembers it only after the fallback worked. If the fallback fails too,
  // missing overrides are not the cause.
  if (tried?.unsupported) withoutOverrides.add(client)
  const names = Object.keys(parameters.calls) as names[]
  const answers = {} as Record<names, CallAnswer>
  for (const [index, name] of names.entries())
    answers[name] = calls[index] ?? noAnswer
  return { head, steps, calls: answers }
}

const noAnswer: CallAnswer = { ok: false, data: '0x', hasCode: false }

async function runExecutor(
  client: Client,
  parameters: RunCallsParameters<string>,
): Promise<{ answers?: RawAnswers | undefined; unsupported: boolean }> {
  const { from, origin = from, steps, block, fees = defaultFees } = parameters
  const calls = Object.values(parameters.calls)
  const items = steps?.length ? [stepsCall(from, steps), ...calls] : calls
  const { result, failure } = await tryRequest(client, 'eth_call', [
    encodeTransaction({
      from: origin,
      to: from,
      data: encodeInput(items),
      gas: gasOf(items),
      fees,
    }),
    encodeBlock(block),
    {
      [origin]: { balance: richBalance },
      [from]: { balance: richBalance, code: executorCode },
    },
  ])
  if (failure) {
    const error = new NodeError({ method: 'eth_call', failure })
    const { kind } = error
    if (error.retryable && kind !== 'internal') throw error
    return { unsupported: kind === 'invalidParams' || kind === 'unsupported' }
  }
  const answers = parseRun(result, steps?.length, calls.length)
  return { answers, unsupported: !answers }
}

function stepsCall(target: Call['target'], steps: readonly Call[]): Call {
  return { target, data: encodeInput(steps, '01'), gas: gasOf(steps) }
}
