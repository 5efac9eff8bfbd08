import type { Client, Hex } from 'viem'
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
  RunHead,
} from './types.js'

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
  const tried = plain ? undefined : await runExecutor(client, parameters)
  const { head, scene, calls } =
    tried?.answers ?? (await runPlainCalls(client, parameters))
  // Only now: what the plain calls stumble over too says nothing of overrides.
  if (tried?.unsupported) withoutOverrides.add(client)
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
): Promise<{ answers?: RawAnswers | undefined; unsupported: boolean }> {
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
    if (error.retryable && failure.code !== -32603) throw error
    return { unsupported: failure.code === -32602 }
  }
  const answers = readRun(result, scene?.length, calls.length)
  return { answers, unsupported: !answers }
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
        target.slice(2) +
        hexOf(Math.min(gas, 0xffffffff), 8) +
        hexOf(data.length / 2, 6) +
        data,
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
  // The executor's code starts with the instruction that pushes its mark.
  const mark = `0x${executorCode.slice(4, 68)}`
  if (typeof result !== 'string' || !result.startsWith(mark)) return undefined
  const bytes = readBytes(result, 'eth_call')
  if (played === undefined) {
    const { head, answers } = readAnswers(bytes, asked)
    return { head, scene: [], calls: answers }
  }
  const { head, answers } = readAnswers(bytes, asked + 1)
  const [first, ...calls] = answers
  const scene = readAnswers(first?.data ?? '0x', played).answers
  return { head, scene, calls }
}

/** The head and the given number of answers, and nothing after them. */
function readAnswers(
  bytes: Hex,
  count: number,
): { head: RunHead; answers: CallAnswer[] } {
  let at = 2
  const take = (digits: number): Hex => {
    const text = bytes.slice(at, at + digits)
    if (text.length < digits) throw cutOff()
    at += digits
    return `0x${text}`
  }
  const number = () => BigInt(take(64))
  take(64)
  const head: RunHead = {
    number: number(),
    timestamp: number(),
    chainId: Number(number()),
    via: 'override',
  }
  take(64)
  const answers = Array.from({ length: count }, () => ({
    ok: number() === 1n,
    gasUsed: number(),
    hasCode: number() > 0n,
    data: take(Number(number()) * 2),
  }))
  if (at < bytes.length) throw cutOff()
  return { head, answers }
}

const cutOff = (): NodeAnswerError =>
  new NodeAnswerError({ method: 'eth_call', problem: 'is cut off' })
