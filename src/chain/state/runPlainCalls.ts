import type { Address, Client } from 'viem'
import { NodeAnswerError, NodeError } from '../rpc/errors.js'
import {
  type BlockHead,
  encodeBlock,
  getBlockHead,
  getChainId,
  readBytes,
  requestNode,
  tryRequest,
} from '../rpc/requestNode.js'
import { encodeTransaction } from './executor.js'
import type {
  Call,
  CallAnswer,
  CallFees,
  RawAnswers,
  RunCallsParameters,
} from './types.js'

/** Runs calls one by one, all at the block the first request pins. */
export async function runPlainCalls(
  client: Client,
  parameters: RunCallsParameters<string>,
): Promise<RawAnswers> {
  const { from, scene, block } = parameters
  const calls = Object.values(parameters.calls)
  const [head, chainId] = await Promise.all([
    getBlockHead(client, block),
    getChainId(client),
  ])
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `names no ${block} block`,
    })
  const at = encodeBlock(block === 'pending' ? block : head.number)
  const fees = parameters.fees ?? usualFees(head)
  const play = scene?.slice(0, 1) ?? []
  const answers = await Promise.all([
    ...play.map((call) => playCall(client, call, { from, fees, at })),
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
    scene: answers.slice(0, play.length),
    calls: answers.slice(play.length),
  }
}

function usualFees({ baseFeePerGas }: BlockHead): CallFees {
  if (baseFeePerGas === undefined) return {}
  const maxPriorityFeePerGas = 1_000_000n
  const maxFeePerGas = 2n * baseFeePerGas + maxPriorityFeePerGas
  return { maxFeePerGas, maxPriorityFeePerGas }
}

type Asked = { from: Address; at: string; fees?: CallFees | undefined }

/**
 * Plays with fee fields, or without where the sender cannot pay for them. What
 * is refused, but not when gas is plenty and free, was refused for its gas.
 */
async function playCall(
  client: Client,
  call: Call,
  asked: Asked,
): Promise<CallAnswer> {
  const free = { ...asked, fees: undefined }
  const answer = await askCall(client, call, asked)
  if (answer.ok) return answer
  if (/insufficient funds for gas|lack of funds/i.test(answer.words ?? ''))
    return askCall(client, call, free)
  const roomy = { ...call, gas: call.gas * 10 }
  return (await askCall(client, roomy, free)).ok
    ? { ...answer, words: 'out of gas' }
    : answer
}

/** How nodes word the end of a call that is the call's own doing. */
const refusals =
  /revert|out ?of ?gas|intrinsic gas|gas required|(insufficient|lack of) funds|opcode|invalid jump|stack (und|ov)erflow|EVM error/i

/** An `eth_call` whose revert is an answer and not an error. */
async function askCall(
  client: Client,
  { target, data, gas }: Call,
  { from, at, fees }: Asked,
): Promise<CallAnswer> {
  const method = 'eth_call'
  const { result, failure } = await tryRequest(client, method, [
    encodeTransaction({
      from,
      to: target,
      data,
      gas: gas + 21_000 + 4 * countDataTokens(data),
      fees,
    }),
    at,
  ])
  if (!failure)
    return { ok: true, data: readBytes(result, method), hasCode: true }
  const { code, status, words, data: reverted = '0x' } = failure
  const refused =
    code === 3 ||
    reverted !== '0x' ||
    (status === undefined && refusals.test(words))
  if (!refused) throw new NodeError({ method, failure })
  return { ok: false, data: reverted, hasCode: true, words }
}

/** A zero byte of a transaction's data counts once, any other four times. */
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
    hasCode: readBytes(code, 'eth_getCode') !== '0x',
  }
}
