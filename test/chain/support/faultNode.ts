import type { DevChain } from 'countersign/devchain'
import {
  type Account,
  type Client,
  createClient,
  custom,
  type Hex,
  numberToHex,
} from 'viem'
import { type Asked, rpcError } from './desk.js'

/** How an answer of a node can be wrong. */
export const faultKinds = [
  'error',
  'refusal',
  'null',
  'otherNetwork',
  'olderHead',
  'farHead',
  'truncated',
  'hugeNumber',
] as const

type FaultKind = (typeof faultKinds)[number]

/** Answers of one method, from the n-th call on, that are wrong in one way. */
export type Fault = {
  method: string
  /** The first call that is answered wrongly, from 1. */
  at: number
  times: number
  kind: FaultKind
}

/** A node in front of a chain that answers wrongly as a schedule says. */
export type FaultNode = {
  /** A client of it; with an account, a wallet. */
  connect(account?: Account | undefined): Client
  /** How often each method was called. */
  calls: ReadonlyMap<string, number>
  /** How often the newest head was read since the last wrong answer. */
  looks(): number
  /** What was answered wrongly, for the log of a test that fails. */
  log: readonly string[]
}

/**
 * @param other another network, whose answers are of no use here.
 */
export function startFaultNode(
  chain: DevChain,
  other: DevChain,
  faults: readonly Fault[],
): FaultNode {
  const calls = new Map<string, number>()
  const log: string[] = []
  let looks = 0
  const request = async (asked: Asked) => {
    const { method } = asked
    const call = (calls.get(method) ?? 0) + 1
    calls.set(method, call)
    if (isHeadAsked(asked)) looks++
    const fault = faults.find(
      ({ method: meant, at, times }) =>
        meant === method && call >= at && call < at + times,
    )
    const ask = (to: DevChain, question = asked) =>
      to.clients.public.request(question as never) as Promise<unknown>
    if (!fault) return ask(chain)
    looks = 0
    log.push(
      `${method} #${call} ${JSON.stringify(asked.params)}: ${fault.kind}`,
    )
    return answerWrongly(fault.kind, asked, { chain, other, ask })
  }
  return {
    connect: (account) =>
      createClient({
        ...(account ? { account } : {}),
        chain: chain.chain,
        transport: custom({ request }, { retryCount: 0 }),
      }),
    calls,
    looks: () => looks,
    log,
  }
}

type Places = {
  chain: DevChain
  other: DevChain
  ask: (to: DevChain, question?: Asked) => Promise<unknown>
}

async function answerWrongly(
  kind: FaultKind,
  asked: Asked,
  { chain, other, ask }: Places,
): Promise<unknown> {
  switch (kind) {
    case 'error':
      throw rpcError(-32603, 'internal error')
    case 'refusal':
      throw rpcError(-32000, 'this node is out of order')
    case 'null':
      await ask(chain)
      return null
    case 'otherNetwork':
      return ofOtherChain(await ask(other))
    case 'olderHead': {
      const head = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
      return ask(chain, atBlock(asked, head > 3n ? head - 3n : 0n))
    }
    case 'farHead':
      return farAhead(asked, await ask(chain))
    case 'truncated':
      return withoutHistory(asked, () => ask(chain))
    case 'hugeNumber':
      return huge(await ask(chain))
  }
}

const tags = ['latest', 'pending', 'safe', 'finalized']

function isHeadAsked({ method, params }: Asked): boolean {
  return method === 'eth_getBlockByNumber' && Object(params)[0] === 'latest'
}

/** As a replica answers that is some blocks behind. */
function atBlock({ method, params }: Asked, block: bigint): Asked {
  const number = numberToHex(block)
  const list: unknown[] = Array.isArray(params) ? params : []
  return {
    method,
    params: list.map((one) => (tags.includes(String(one)) ? number : one)),
  }
}

/** The chain id as the executor's answers and `eth_chainId` hold it. */
function ofOtherChain(answer: unknown): unknown {
  if (typeof answer !== 'string') return answer
  return answer === '0x7a69' ? '0x2105' : answer.replaceAll('7a69', '2105')
}

const million = 1_000_000n

function later(quantity: unknown): Hex {
  return numberToHex(BigInt(String(quantity)) + million)
}

function farAhead({ method, params }: Asked, answer: unknown): unknown {
  const isTagged = Array.isArray(params) && tags.includes(String(params[0]))
  if (method === 'eth_blockNumber') return later(answer)
  if (method === 'eth_getTransactionCount') return numberToHex(5000)
  if (method !== 'eth_getBlockByNumber' || !isTagged || !answer) return answer
  const { number, timestamp, ...rest } = Object(answer)
  return {
    ...rest,
    number: later(number),
    timestamp: later(timestamp),
    hash: `0x${'f'.repeat(64)}`,
  }
}

/** As a node answers that has pruned what is not the newest. */
async function withoutHistory(
  { method, params }: Asked,
  ask: () => Promise<unknown>,
): Promise<unknown> {
  const list: unknown[] = Array.isArray(params) ? params : []
  if (method === 'eth_getLogs') return []
  if (/Receipt|ByHash/.test(method)) return null
  const isNumbered = list.some((one) => /^0x[\da-f]{1,16}$/i.test(String(one)))
  if (!isNumbered) return ask()
  if (method === 'eth_getBlockByNumber') return null
  throw rpcError(-32000, 'missing trie node 0f00 (path )')
}

const largest = `0x${'f'.repeat(64)}`

function huge(answer: unknown): unknown {
  if (typeof answer === 'string' && answer.length <= 34) return largest
  if (Array.isArray(answer)) return answer.map(huge)
  if (typeof answer !== 'object' || answer === null) return answer
  return Object.fromEntries(
    Object.entries(answer).map(([name, value]) => [
      name,
      isQuantity(name, value) ? largest : value,
    ]),
  )
}

const quantities = /number|timestamp|gas|index|status|nonce/i

function isQuantity(name: string, value: unknown): boolean {
  return quantities.test(name) && /^0x[\da-f]{1,16}$/i.test(String(value))
}
