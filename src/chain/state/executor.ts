import type { Address, Hex } from 'viem'
import { NodeAnswerError } from '../rpc/errors.js'
import { parseBytes } from '../rpc/requestNode.js'
import { executorCode } from './contracts/Executor.generated.js'
import type {
  Call,
  CallAnswer,
  CallFees,
  RawAnswers,
  RunHead,
} from './types.js'

/** Encodes a transaction for `eth_call`. Expects `data` as hex without `0x`. */
export function encodeTransaction({
  from,
  to,
  data,
  gas,
  fees = {},
}: {
  from: Address
  to?: Address | undefined
  data: string
  gas: number
  fees?: CallFees | undefined
}): Record<string, string> {
  return encodeMembers({ from, to, data: `0x${data}`, gas, ...fees })
}

/**
 * Encodes the members of an object for JSON-RPC: numbers as hex quantities.
 * Leaves out absent members.
 */
export function encodeMembers(
  members: Record<string, string | number | bigint | undefined>,
): Record<string, string> {
  const encoded: Record<string, string> = {}
  for (const [name, value] of Object.entries(members))
    if (value !== undefined)
      encoded[name] =
        typeof value === 'string' ? value : `0x${value.toString(16)}`
  return encoded
}

/**
 * Returns the gas limit for the calls together. Adds 300,000 for the executor
 * contract, and 2% because the EVM withholds a 64th of the gas at each call
 * (EIP-150).
 */
export function gasOf(calls: readonly Call[]): number {
  return calls.reduce((sum, { gas }) => sum + Math.ceil(gas * 1.02), 300_000)
}

/**
 * Encodes the input of the executor contract. With mode `01`, that
 * contract undoes what the calls did.
 */
export function encodeInput(calls: readonly Call[], mode = '00'): string {
  const items = calls
    .map(
      ({ target, gas, data }) =>
        target.slice(2) +
        hexOf(Math.min(gas, 0xffffffff), 8) +
        hexOf(data.length / 2, 6) +
        data,
    )
    .join('')
  return mode + items
}

export const hexOf = (value: number, digits: number): string =>
  value.toString(16).padStart(digits, '0')

export function parseRun(
  result: unknown,
  stepCount: number | undefined,
  callCount: number,
): RawAnswers | undefined {
  // The answer of the executor contract begins with the word that its first
  // instruction pushes. Any other answer means that the node ignored the state
  // override.
  const mark = `0x${executorCode.slice(4, 68)}`
  if (typeof result !== 'string' || !result.startsWith(mark)) return undefined
  const bytes = parseBytes(result, 'eth_call')
  const { head, answers } = parseAnswers(bytes, callCount + (stepCount ? 1 : 0))
  const first = stepCount && answers.shift()
  return {
    head,
    steps: first ? parseAnswers(first.data, stepCount).answers : [],
    calls: answers,
  }
}

/**
 * Parses the answer of the executor contract: the block, and `count` answers.
 * Throws if bytes are missing or left over.
 */
function parseAnswers(
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

export function isWord({ ok, data }: CallAnswer): boolean {
  return ok && data.length === 66
}

/**
 * Returns the number that a contract answered. Never takes a missing answer for
 * zero: a node can fail to answer one call among others.
 *
 * @throws {@link NodeAnswerError} when the answer is not one word.
 */
export function readWord(answer: CallAnswer | undefined, name: string): bigint {
  if (answer && isWord(answer)) return BigInt(answer.data)
  throw new NodeAnswerError({
    method: 'eth_call',
    problem: `holds no ${name}`,
  })
}

export function isTrue(answer: CallAnswer): boolean {
  return isWord(answer) && BigInt(answer.data) !== 0n
}
