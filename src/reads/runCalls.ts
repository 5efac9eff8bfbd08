import type { Client } from 'viem'
import { executorCode } from './contracts/Executor.generated.js'
import { NodeAnswerError, NodeError } from './errors.js'
import { encodeBlock, readBytes, tryRequest } from './requestNode.js'
import { encodeTransaction, runPlainCalls } from './runPlainCalls.js'
import type {
  Call,
  CallAnswer,
  CallFees,
  RawAnswers,
  RunAnswers,
  RunCallsParameters,
} from './types.js'

/** "countersign executor, answer 1", the word each answer starts with. */
const answerMark =
  '636f756e7465727369676e206578656375746f722c20616e7377657220310000'

/** Enough for any gas price, so that fee fields need no balance. */
const richBalance = '0xffffffffffffffffffffffff'

const withoutOverrides = /* @__PURE__ */ new WeakSet<object>()

/** A price no base fee exceeds, with the tip usual on rollups, in wei. */
const defaultFees: CallFees = {
  maxFeePerGas: 10_000_000_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
}

/**
 * Runs named calls from an account at one block, in exactly one request where
 * the node honours state overrides; elsewhere, which is remembered per client,
 * in one request a call.
 *
 * @throws {@link NodeError} when the node does not answer.
 */
export async function runCalls<names extends string>(
  client: Client,
  parameters: RunCallsParameters<names>,
): Promise<RunAnswers<names>> {
  const plain = parameters.plain || withoutOverrides.has(client)
  const { head, scene, calls } =
    (!plain && (await runExecutor(client, parameters))) ||
    (await runPlainCalls(client, parameters))
  const names = Object.keys(parameters.calls) as names[]
  const answers = {} as Record<names, CallAnswer>
  for (const [index, name] of names.entries())
    answers[name] = calls[index] ?? noAnswer
  return { head, scene, calls: answers }
}

const noAnswer: CallAnswer = { ok: false, data: '0x', hasCode: false }

async function runExecutor(
  client: Client,
  parameters: RunCallsParameters<string>,
): Promise<RawAnswers | undefined> {
  const { from, origin = from, scene, block, fees = defaultFees } = parameters
  const calls = Object.values(parameters.calls)
  const items = scene ? [sceneCall(from, scene), ...calls] : calls
  const { result, failure } = await tryRequest(client, 'eth_call', [
    encodeTransaction({
      from: origin,
      to: from,
      data: `00${encodeCalls(items)}`,
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
    if (error.retryable) throw error
  }
  const answers = readRun(result, scene?.length, calls.length)
  if (!answers && (!failure || failure.code === -32602))
    withoutOverrides.add(client)
  return answers
}

function sceneCall(target: Call['target'], scene: readonly Call[]): Call {
  return { target, data: `01${encodeCalls(scene)}`, gas: gasOf(scene) }
}

/** With what the executor itself needs, and the 64th a call keeps back. */
function gasOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { gas }) => sum + Math.ceil(gas * 1.02), 300_000)
}

function encodeCalls(calls: readonly Call[]): string {
  return calls
    .map(
      ({ target, gas, data }) =>
        target.slice(2) + hexOf(gas, 8) + hexOf(data.length / 2, 6) + data,
    )
    .join('')
}

const hexOf = (value: number, digits: number): string =>
  value.toString(16).padStart(digits, '0')

function readRun(
  result: unknown,
  played: number | undefined,
  asked: number,
): RawAnswers | undefined {
  if (typeof result !== 'string' || !result.startsWith(`0x${answerMark}`))
    return undefined
  const body = readBytes(result, 'eth_call').slice(2)
  const [first, ...rest] = readAnswers(body, asked + (played ? 1 : 0))
  const head = (index: number) => BigInt(`0x${wordAt(body, index * 64)}`)
  return {
    head: {
      number: head(1),
      timestamp: head(2),
      chainId: Number(head(3)),
      via: 'override',
    },
    scene: played && first ? readAnswers(first.data.slice(2), played) : [],
    calls: played || !first ? rest : [first, ...rest],
  }
}

/** The given number of answers, and nothing after them. */
function readAnswers(body: string, count: number): CallAnswer[] {
  const answers: CallAnswer[] = []
  let at = 5 * 64
  while (answers.length < count && at < body.length) {
    const number = (index: number) =>
      BigInt(`0x${wordAt(body, at + index * 64)}`)
    const end = at + 256 + Number(number(3)) * 2
    answers.push({
      ok: number(0) === 1n,
      gasUsed: number(1),
      hasCode: number(2) > 0n,
      data: `0x${body.slice(at + 256, end)}`,
    })
    at = end
  }
  if (answers.length === count && at === body.length) return answers
  throw cutOff()
}

function wordAt(body: string, at: number): string {
  const text = body.slice(at, at + 64)
  if (text.length === 64) return text
  throw cutOff()
}

const cutOff = (): NodeAnswerError =>
  new NodeAnswerError({ method: 'eth_call', problem: 'is cut off' })
