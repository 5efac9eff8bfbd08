import {
  getLogs,
  type LogEvent,
  type ReadLog,
  watchLogs,
} from 'countersign/reads'
import {
  type FaultTransportParameters,
  faultTransport,
} from 'countersign/testing'
import { createClient, numberToHex } from 'viem'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import {
  address,
  type FakeLog,
  forkingChain,
} from '../../support/forkingChain.js'
import { openPushServer } from '../../support/pushServer.js'

const rounds = process.env.COUNTERSIGN_FULL ? 10_000 : 1_000
const seedsOfATest = 100
const groups = Array.from({ length: rounds / seedsOfATest }, (_, i) => [
  i * seedsOfATest,
  (i + 1) * seedsOfATest - 1,
])

beforeAll(async () => {
  server = await openPushServer()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterAll(() => {
  server?.close()
  vi.useRealTimers()
})

/** Lets time pass until the promise settles. */
async function settle<result>(promise: Promise<result>): Promise<result> {
  let over = false
  const end = () => {
    over = true
  }
  promise.then(end, end)
  while (!over) await pass(100)
  return promise
}

/** Lets time pass, and what came in meanwhile be heard. */
async function pass(milliseconds: number, turns = 1): Promise<void> {
  vi.advanceTimersByTime(milliseconds)
  for (let turn = 0; turn < turns; turn++)
    await new Promise((resolve) => setImmediate(resolve))
}

const stages = ['included', 'safe', 'finalized'] as const

type Chain = ReturnType<typeof forkingChain>

function faultyClient(
  chain: Chain,
  seed: number,
  { rate, silent }: { rate: number; silent: boolean },
) {
  const lag = () => ({ blocks: Math.floor(chain.random() * 6), silent })
  const kinds = ['drop', 'delay', 'duplicate', 'http429', 'http500', 'http503']
  const broken = ['truncated', 'malformed', 'staleHead', 'otherReplica']
  const rates = Object.fromEntries(
    [...kinds, ...broken].map((kind) => [kind, rate]),
  )
  const transport = faultTransport(chain.transport(), {
    seed,
    rates: rates as FaultTransportParameters['rates'],
    replica: chain.transport(lag),
  })
  return { client: createClient({ transport }), faults: transport.faults }
}

const nameOf = (log: ReadLog | FakeLog) =>
  `${BigInt(log.blockNumber)} ${log.blockHash} ${Number(log.logIndex)} ${log.transactionHash}`

test.each(groups)(
  'getLogs gives what the chain holds, each log once, under faults of seeds %i to %i',
  async (first, last) => {
    let faulted = 0
    for (let seed = first ?? 0; seed <= (last ?? 0); seed++) {
      const chain = forkingChain(seed)
      const size = 20 + Math.floor(chain.random() * 200)
      for (let i = 0; i < size; i++) chain.mine()
      const { client, faults } = faultyClient(chain, seed, {
        rate: 0.015,
        silent: false,
      })
      const logs = await settle(
        getLogs(client, {
          address,
          fromBlock: 0n,
          toBlock: BigInt(chain.head()),
          maxBlockRange: BigInt(1 + Math.floor(chain.random() * 40)),
        }),
      )
      expect(logs.map(nameOf), `seed ${seed}`).toEqual(chain.logs().map(nameOf))
      faulted += faults.length
    }
    expect(faulted).toBeGreaterThan(seedsOfATest)
  },
)

/** Keeps what was delivered and not taken back; names what comes twice. */
function ledger() {
  const held = new Map<string, string[]>()
  const open = new Set<string>()
  const wrong: string[] = []
  const count = { removed: 0, preconfirmed: 0, gap: 0 }
  const onEvent = (event: LogEvent): void => {
    if (event.type in count) count[event.type as keyof typeof count] += 1
    if (event.type === 'gap') return
    const { type, log } = event
    const name = nameOf(log)
    const loose = `${log.transactionHash} ${log.topics.join()}`
    const note = (isRight: boolean) => {
      if (!isRight) wrong.push(`${type} ${name}`)
    }
    const finalities = held.get(name)
    if (type === 'preconfirmed') {
      note(!open.has(loose))
      open.add(loose)
    } else if (type === 'dropped') note(open.delete(loose))
    else if (type === 'included') {
      note(!finalities)
      open.delete(loose)
      held.set(name, ['included'])
    } else if (type === 'removed') note(held.delete(name))
    else {
      note(finalities?.length === stages.indexOf(type))
      finalities?.push(type)
    }
  }
  return { held, wrong, count, onEvent }
}

let server: Awaited<ReturnType<typeof openPushServer>>

/** Forty steps in which the chain grows, forks, announces, and breaks off. */
async function live(chain: Chain): Promise<void> {
  for (let step = 0; step < 40; step++) {
    if (chain.random() < 0.15)
      chain.reorganize(1 + Math.floor(chain.random() * 6))
    for (let n = chain.random() * 3; n > 1; n--) {
      chain.mine()
      if (chain.random() < 0.8) server.pushHead()
    }
    const log = chain.logs().at(-1)
    if (log && chain.random() < 0.3) server.pushPending(log)
    if (log && chain.random() < 0.3)
      server.pushPending({
        ...log,
        blockNumber: numberToHex(chain.head() + 1),
        transactionHash: `0x${'f'.repeat(62)}${10 + (step % 30)}`,
      })
    if (chain.random() < 0.1) server.cut()
    await pass(100, 4)
  }
}

test.each(groups)(
  'watchLogs delivers what the chain holds at the end, each log once, under faults, reconnects and reorganizations of seeds %i to %i',
  async (first, last) => {
    const sum = { removed: 0, preconfirmed: 0, gap: 0 }
    for (let seed = first ?? 0; seed <= (last ?? 0); seed++) {
      const chain = forkingChain(seed)
      const { client } = faultyClient(chain, seed, { rate: 0.03, silent: true })
      const { held, wrong, count, onEvent } = ledger()
      const finality = stages[seed % 3] ?? 'included'
      const unwatch = watchLogs(client, {
        address,
        fromBlock: 0n,
        finality,
        pollingInterval: 100,
        webSocket: server.url,
        onEvent,
      })
      await live(chain)
      // What a shorter chain no longer holds, only a longer one disproves.
      chain.outgrow()
      const finalities = stages.slice(0, stages.indexOf(finality) + 1)
      for (let calm = 0; calm < 100 && !isDone(held, chain, finalities); calm++)
        await pass(100)
      unwatch()
      server.cut()
      expect([...held.keys()].sort(), `seed ${seed}`).toEqual(
        chain.logs().map(nameOf).sort(),
      )
      expect(isDone(held, chain, finalities), `seed ${seed}`).toBe(true)
      expect(wrong, `seed ${seed}`).toEqual([])
      for (const type of ['removed', 'preconfirmed', 'gap'] as const)
        sum[type] += count[type]
    }
    const few = Object.values(sum).filter((times) => times < seedsOfATest)
    expect(few).toEqual([])
  },
)

/** Whether all is delivered, and what is old enough has every finality. */
function isDone(
  held: Map<string, string[]>,
  chain: Chain,
  finalities: readonly string[],
): boolean {
  const logs = chain.logs()
  return (
    logs.length === held.size &&
    logs.every((log) => {
      const reached = held.get(nameOf(log))
      const isOld = Number(log.blockNumber) <= chain.finalized()
      return reached && (!isOld || reached.length === finalities.length)
    })
  )
}
