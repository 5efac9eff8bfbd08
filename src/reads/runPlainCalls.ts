import type { Address, Client } from 'viem'
import { NodeAnswerError, NodeError } from './errors.js'
import {
  encodeBlock,
  getBlockHead,
  readBytes,
  readQuantity,
  requestNode,
  tryRequest,
} from './requestNode.js'
import type {
  AskCall,
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
  const {
    from,
    scene,
    block,
    playAlone = (call, ask) => ask(call),
  } = parameters
  const calls = Object.values(parameters.calls)
  const [head, chainId] = await Promise.all([
    getBlockHead(client, block),
    requestNode(client, 'eth_chainId', []),
  ])
  if (!head)
    throw new NodeAnswerError({
      method: 'eth_getBlockByNumber',
      problem: `names no ${block} block`,
    })
  const at = encodeBlock(block === 'pending' ? block : head.number)
  const ask: AskCall = (call, fees) =>
    call.gas
      ? askCall(client, call, { from, at, fees })
      : askCode(client, call, at)
  const [first] = scene ?? []
  const play = first ? [playAlone(first, ask, head)] : []
  const answers = await Promise.all([
    ...play,
    ...calls.map((call) => ask(call)),
  ])
  return {
    head: {
      number: head.number,
      timestamp: head.timestamp,
      chainId: Number(readQuantity(chainId, 'eth_chainId')),
      via: 'calls',
    },
    scene: answers.slice(0, play.length),
    calls: answers.slice(play.length),
  }
}

/** A transaction for `eth_call`; `data` is hex without `0x`. */
export function encodeTransaction({
  from,
  to,
  data,
  gas,
  fees = {},
}: {
  from: Address
  to: Address
  data: string
  gas: number
  fees?: CallFees | undefined
}): Record<string, string> {
  const transaction: Record<string, string> = {
    from,
    to,
    data: `0x${data}`,
    gas: `0x${gas.toString(16)}`,
  }
  for (const [name, fee] of Object.entries(fees))
    if (fee !== undefined) transaction[name] = `0x${fee.toString(16)}`
  return transaction
}

type Asked = { from: Address; at: string; fees?: CallFees | undefined }

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
  const bytes = data.match(/../g) ?? []
  return bytes.reduce((sum, byte) => sum + (byte === '00' ? 1 : 4), 0)
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
