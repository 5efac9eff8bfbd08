import { capturePayment } from 'countersign'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { seededRandom } from '../../../../src/testing/seededRandom.js'
import {
  type Asked,
  draft,
  fakeNode,
  mined,
  rpcError,
} from '../../support/desk.js'
import {
  mineBlocks,
  orderOf,
  typesOf,
  watcherOf,
} from '../../support/watching.js'
import { contextOf, putOrder } from '../../support/watchRows.js'

let chain: DevChain

// The node calls a block safe below 4 others, and finalized below 8.
beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 4 })
  await mineBlocks(chain, 40)
})
afterAll(() => chain.stop())

const otherHash = `0x${'cd'.repeat(32)}`
const hexOf = (value: bigint) => `0x${value.toString(16)}`

type Forward = () => Promise<unknown>
type Fault = (asked: Asked, forward: Forward) => Promise<unknown>

const isBlock = ({ method }: Asked) => method === 'eth_getBlockByNumber'

const tagOf = ({ params }: Asked): unknown =>
  Array.isArray(params) ? params[0] : undefined

/** A block of an answer with other fields; another answer stays. */
function changeBlock(
  answer: unknown,
  fields: (block: { number: bigint; time: bigint }) => object,
): unknown {
  const { number, timestamp } = Object(answer)
  if (typeof number !== 'string' || typeof timestamp !== 'string') return answer
  const block = { number: BigInt(number), time: BigInt(timestamp) }
  return { ...Object(answer), ...fields(block) }
}

/** One word of what the executor answers: block, time and chain come first. */
function changeWord(answer: unknown, at: number, word: bigint): string {
  const words =
    String(answer)
      .slice(2)
      .match(/.{1,64}/g) ?? []
  words[at] = word.toString(16).padStart(64, '0')
  return `0x${words.join('')}`
}

const faults: Readonly<Record<string, Fault>> = {
  error: async () => {
    throw rpcError(-32005, 'limit exceeded')
  },
  null: async () => null,
  otherNetwork: async (asked, forward) => {
    if (asked.method === 'eth_chainId') return '0x1'
    if (asked.method === 'eth_getLogs') return []
    if (asked.method === 'eth_getTransactionReceipt') return null
    const answer = await forward()
    if (asked.method === 'eth_call') return changeWord(answer, 3, 1n)
    const isTag = !String(tagOf(asked)).startsWith('0x')
    return changeBlock(answer, ({ number, time }) => ({
      hash: otherHash,
      number: hexOf(isTag ? number + 90_000n : number),
      timestamp: hexOf(time + 90_000n),
    }))
  },
  olderHead: async (asked, forward) => {
    const { method, params } = asked
    const [first, , ...rest] = Array.isArray(params) ? params : []
    const ask = (changed: unknown) =>
      chain.clients.public.request({ method, params: changed } as never)
    if (method === 'eth_call') return ask([first, '0x10', ...rest])
    if (isBlock(asked) && !String(first).startsWith('0x'))
      return ask(['0x10', false])
    return forward()
  },
  farHead: async (_asked, forward) =>
    changeBlock(await forward(), ({ number, time }) => ({
      number: hexOf(number + 1_000_000n),
      timestamp: hexOf(time + 2_000_000n),
      hash: otherHash,
    })),
  truncated: async (_asked, forward) => {
    const answer = await forward()
    if (Array.isArray(answer)) return []
    if (typeof answer === 'string')
      return answer.slice(0, Math.floor(answer.length / 2))
    return answer && 'logs' in Object(answer)
      ? { ...Object(answer), logs: [] }
      : answer
  },
  hugeNumber: async (asked, forward) => {
    const answer = await forward()
    const huge = 2n ** 62n
    if (asked.method === 'eth_call') return changeWord(answer, 2, huge)
    return changeBlock(answer, () => ({ timestamp: hexOf(huge) }))
  },
  newestForTag: async (asked, forward) =>
    isBlock(asked) && /safe|finalized/.test(String(tagOf(asked)))
      ? chain.clients.public.request({
          method: 'eth_getBlockByNumber',
          params: ['latest', false],
        })
      : forward(),
}

/** Most looks after the last wrong answer until everything has ended. */
const mostLooks = 12

/** Lets one schedule run; what did not end as it should, by name. */
async function play({
  fault,
  method,
  from,
  times,
}: {
  fault: Fault
  method: string
  from: number
  times: number
}): Promise<Record<string, unknown>> {
  let isArmed = false
  let calls = 0
  const { client } = fakeNode(chain, async (asked, forward) => {
    if (!isArmed || asked.method !== method) return forward()
    const call = calls++
    return call >= from && call < from + times
      ? fault(asked, forward)
      : forward()
  })
  const context = contextOf(chain, {
    tokens: [{ client, token: chain.token }],
  })
  const look = watcherOf(context)
  // The node itself may not name its newest block.
  const lookOn = () => look().catch(() => undefined)
  await look()
  const { merchant, relayer } = chain.clients
  const captured = await draft(chain)
  const paid = await draft(chain, { primaryType: 'TransferWithAuthorization' })
  const ids = {
    captured: await putOrder(context, captured),
    paid: await putOrder(context, paid, {
      order: { state: 'drafted', payer: undefined },
      attempt: { payer: undefined, signature: undefined, spendable: false },
    }),
    over: await putOrder(context, await draft(chain)),
  }
  await look()
  isArmed = true
  await mined(chain, capturePayment(merchant, { payment: captured }))
  await lookOn()
  await mined(chain, capturePayment(relayer, { payment: paid }))
  await lookOn()
  await chain.warp(1000)
  await lookOn()
  await lookOn()
  await mineBlocks(chain, 9)
  await lookOn()
  await lookOn()
  isArmed = false
  for (let at = 0; at < mostLooks; at++) {
    await chain.warp(20)
    await look()
  }
  const endOf = async (id: string) => {
    const { state, finality, unexpected } = await orderOf(context, id)
    const types = await typesOf(context, id)
    const fulfilled = types.filter((type) => type === 'fulfil').length
    return [state, finality, unexpected, fulfilled]
  }
  return {
    captured: await endOf(ids.captured),
    paid: await endOf(ids.paid),
    over: await endOf(ids.over),
  }
}

const methods = [
  'eth_getBlockByNumber',
  'eth_getLogs',
  'eth_call',
  'eth_getTransactionReceipt',
  'eth_chainId',
]

const cases = Number(process.env.COUNTERSIGN_WATCH_FAULTS ?? 24)
const seed = Number(process.env.COUNTERSIGN_SEED ?? 1)
const random = seededRandom(seed)
const draw = (below: number) => Math.floor(random() * below)
const names = Object.keys(faults)

const schedules = Array.from({ length: cases }, (_, at) => {
  const method = methods[draw(methods.length)] ?? 'eth_call'
  return {
    name: names[at % names.length] ?? 'error',
    method,
    from: draw(method === 'eth_getBlockByNumber' ? 30 : 8),
    // Two wrong answers that agree are believed.
    times: 1,
  }
})

test.each(schedules)(
  'whatever one answer says, each payment is fulfilled once and the rest ends ($name at $method, call $from, $times times)',
  async ({ name, method, from, times }) => {
    const fault = faults[name]
    if (!fault) throw new Error(`no fault ${name}`)
    expect(await play({ fault, method, from, times })).toEqual({
      captured: ['captured', 'finalized', false, 1],
      paid: ['captured', 'finalized', false, 1],
      over: ['expired', 'finalized', false, 0],
    })
  },
)
