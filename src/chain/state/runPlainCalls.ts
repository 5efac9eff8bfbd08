import type { Client } from 'viem'
import { NodeAnswerError, NodeError } from '../rpc/errors.js'
import {
  type BlockHead,
  encodeBlock,
  getBlockHead,
  getChainId,
  parseBytes,
  requestNode,
  tryRequest,
} from '../rpc/requestNode.js'
import { gasMeterCode } from './contracts/GasMeter.generated.js'
import { encodeTransaction } from './executor.js'
import type {
  AskedAt,
  Call,
  CallAnswer,
  CallFees,
  RawAnswers,
  RunCallsParameters,
} from './types.js'

/** Runs calls one by one, all at the block of the first. */
export async function runPlainCalls(
  client: Client,
  parameters: RunCallsParameters<string>,
): Promise<RawAnswers> {
  const { from, steps, block } = parameters
  const calls = Object.values(parameters.calls)
  const [head, chainId] = await Promise.all([
    getBlockHead(client, block),
    getChainId(client),
  ])
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `has no ${block} block`,
    })
  const at = encodeBlock(block === 'pending' ? block : head.number)
  const fees = parameters.fees ?? usualFees(head)
  const first = steps?.slice(0, 1) ?? []
  const answers = await Promise.all([
    ...first.map((call) => simulateCall(client, call, { from, fees, at })),
    ...calls.map((call) =>
      call.gas
        ? askCall(client, call, { from, at })
        : askCode(client, call, at),
    ),
  ])
  return {
    head: {
      number: head.number,
      timestamp: head.timestamp,
      chainId,
      via: 'calls',
    },
    steps: answers.slice(0, first.length),
    calls: answers.slice(first.length),
  }
}

function usualFees({ baseFeePerGas }: BlockHead): CallFees {
  if (baseFeePerGas === undefined) return {}
  const maxPriorityFeePerGas = 1_000_000n
  const maxFeePerGas = 2n * baseFeePerGas + maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas }
}

/**
 * Simulates a call with fee fields, or without them if the sender cannot pay. A
 * call that runs out of gas inside can look like any other revert. So if the
 * call succeeds with ten times the gas, checks whether gas was the cause.
 */
async function simulateCall(
  client: Client,
  call: Call,
  asked: AskedAt,
): Promise<CallAnswer> {
  const free = { ...asked, fees: undefined }
  const answer = await askCall(client, call, asked)
  if (answer.ok) return answer
  if (/insufficient funds for gas|lack of funds/i.test(answer.words ?? ''))
    return askCall(client, call, free)
  const roomy = { ...call, gas: call.gas * 10 }
  const isCured = (await askCall(client, roomy, free)).ok
  return isCured && (await lacksGas(client, call, asked, answer))
    ? { ...answer, words: 'out of gas' }
    : answer
}

/**
 * Tells whether a call failed because it had too little gas. If the payer's
 * contract wallet refused with gas left, the gas price may be the cause
 * instead.
 */
async function lacksGas(
  client: Client,
  call: Call,
  asked: AskedAt,
  { data }: CallAnswer,
): Promise<boolean> {
  // A call that fails without revert data ran out of gas.
  if (data === '0x' || !call.question) return true
  return burnsGas(client, { ...call.question(), gas: wholeGas(call) }, asked)
}

/**
 * True if a call uses nine tenths of its gas or more. Measures it with a
 * contract that `eth_call` creates for this. Also true if the node cannot
 * measure it, for example because the sender cannot pay.
 */
async function burnsGas(
  client: Client,
  { target, data, gas }: Call,
  { from, at, fees }: AskedAt,
): Promise<boolean> {
  const creation = gasMeterCode.slice(2) + target.slice(2) + data
  const measured = await askTransaction(
    client,
    encodeTransaction({
      from,
      data: creation,
      gas,
      fees,
    }),
    at,
  )
  if (measured.data.length !== 2 + 2 * 64) return true
  const before = BigInt(measured.data.slice(0, 66))
  const left = BigInt(`0x${measured.data.slice(66)}`)
  return left * 10n <= before
}

/**
 * Adds the gas that a transaction costs before its first instruction: 21,000,
 * and that of its data.
 */
function wholeGas({ gas, data }: Call): number {
  return gas + 21_000 + 4 * countDataTokens(data)
}

/** Sends an `eth_call`. Returns a revert as an answer, not as an error. */
async function askCall(
  client: Client,
  call: Call,
  { from, at, fees }: AskedAt,
): Promise<CallAnswer> {
  return askTransaction(
    client,
    encodeTransaction({
      from,
      to: call.target,
      data: call.data,
      gas: wholeGas(call),
      fees,
    }),
    at,
  )
}

/**
 * Error texts of calls that failed by themselves, not through a fault of the
 * node.
 */
const refusals =
  /revert|out ?of ?gas|intrinsic gas|gas required|(insufficient|lack of) funds|opcode|invalid jump|stack (und|ov)erflow|EVM error|initcode/i

async function askTransaction(
  client: Client,
  transaction: Record<string, string>,
  at: string,
): Promise<CallAnswer> {
  const method = 'eth_call'
  const { result, failure } = await tryRequest(client, method, [
    transaction,
    at,
  ])
  if (!failure)
    return { ok: true, data: parseBytes(result, method), hasCode: true }
  const { code, status, words, data: reverted = '0x' } = failure
  const refused =
    code === 3 ||
    reverted !== '0x' ||
    (status === undefined && refusals.test(words))
  if (!refused) throw new NodeError({ method, failure })
  return { ok: false, data: reverted, hasCode: true, words }
}

/**
 * Counts the data of a transaction as the gas price of calldata does: a zero
 * byte once, any other byte four times.
 */
export function countDataTokens(data: string): number {
  let tokens = data.length * 2
  for (let at = 0; at < data.length; at += 2)
    if (data.startsWith('00', at)) tokens -= 3
  return tokens
}

async function askCode(
  client: Client,
  { target }: Call,
  at: string,
): Promise<CallAnswer> {
  const code = await requestNode(client, 'eth_getCode', [target, at])
  return {
    ok: true,
    data: '0x',
    hasCode: parseBytes(code, 'eth_getCode') !== '0x',
  }
}
