import { connect, createServer, type Socket } from 'node:net'
import { type DevChain, startDevChain } from 'countersign/devchain'
import {
  createReadClient,
  type LogEvent,
  type WatchLogsParameters,
} from 'countersign/reads'
import { erc20Abi, type Hash } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'

let chain: DevChain
const unwatches: (() => void)[] = []

beforeAll(async () => {
  chain = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime: 0,
    tick: 0,
  })
})
afterAll(() => chain?.stop())
afterEach(async () => {
  for (const unwatch of unwatches.splice(0)) unwatch()
  chain.setPolicies({})
  await chain.preconfirmations.seal()
})

function transfer(value = 1n): Promise<Hash> {
  const { payer, merchant } = chain.clients
  return payer.writeContract({
    address: chain.token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [merchant.account.address, value],
  })
}

const tick = () => chain.preconfirmations.tick()
const seal = () => chain.preconfirmations.seal()
const includeTransfer = async () => {
  const hash = await transfer()
  await tick()
  await seal()
  return hash
}

/** A watch of the token that has begun, and what it told. */
async function startWatch(parameters: Partial<WatchLogsParameters> = {}) {
  const client = createReadClient({ url: chain.urls.http })
  const events: LogEvent[] = []
  const errors: unknown[] = []
  const head = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  const unwatch = client.watchLogs({
    address: chain.token,
    fromBlock: head + 1n,
    pollingInterval: 25,
    onEvent: (event) => events.push(event),
    onError: (error) => errors.push(error),
    ...parameters,
  })
  unwatches.push(unwatch)
  /** What happened to the logs of a transaction, in order. */
  const typesOf = (hash: Hash) =>
    events.flatMap((event) =>
      event.type !== 'gap' && event.log.transactionHash === hash
        ? [event.type]
        : [],
    )
  return { events, errors, unwatch, typesOf }
}

const until = (check: () => void) =>
  vi.waitFor(check, { timeout: 60_000, interval: 10 })

/** Long enough for several looks. */
const looks = () => new Promise((resolve) => setTimeout(resolve, 200))

/** Passes connections on to the chain's socket, and can cut them. */
async function openProxy() {
  const target = new URL(chain.urls.webSocket)
  const open = new Set<Socket>()
  const seen = { connections: 0 }
  let refusing = false
  const server = createServer((socket) => {
    if (refusing) {
      socket.destroy()
      return
    }
    seen.connections += 1
    const onward = connect(Number(target.port), target.hostname)
    for (const [one, other] of [
      [socket, onward],
      [onward, socket],
    ] as const) {
      open.add(one)
      one.pipe(other)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  return {
    url: `ws://127.0.0.1:${port}`,
    open,
    seen,
    refuse: (on: boolean) => {
      refusing = on
    },
    cut: () => {
      for (const socket of open) socket.destroy()
    },
    close: () => server.close(),
  }
}

const ways = [
  ['polling', () => ({ preconfirmed: true })],
  [
    'a WebSocket',
    () => ({ webSocket: chain.urls.webSocket, pollingInterval: 60_000 }),
  ],
] as const

/** Until a pushed log can arrive. */
async function startWatchBy(
  way: () => Partial<WatchLogsParameters>,
  parameters: Partial<WatchLogsParameters> = {},
) {
  const watch = await startWatch({ ...way(), ...parameters })
  await looks()
  return watch
}

test.each(ways)(
  'a log is pre-confirmed, included, safe and finalized, each once, over %s',
  async (_, way) => {
    const { typesOf, errors } = await startWatchBy(way, {
      finality: 'finalized',
    })
    const hash = await transfer()
    await tick()
    await until(() => expect(typesOf(hash)).toEqual(['preconfirmed']))
    await seal()
    await until(() =>
      expect(typesOf(hash)).toEqual(['preconfirmed', 'included']),
    )
    await chain.clients.test.mine({ blocks: 80 })
    const all = ['preconfirmed', 'included', 'safe', 'finalized']
    await until(() => expect(typesOf(hash)).toEqual(all))
    expect(errors).toEqual([])
  },
)

test.each(ways)(
  'a log whose block is replaced is removed, and included again, over %s',
  async (_, way) => {
    const { typesOf, events } = await startWatchBy(way)
    const hash = await includeTransfer()
    await until(() => expect(typesOf(hash)).toContain('included'))
    await chain.reorg({ depth: 1, transactions: 'replayed' })
    await tick()
    await seal()
    await until(() =>
      expect(typesOf(hash).filter((type) => type !== 'preconfirmed')).toEqual([
        'included',
        'removed',
        'included',
      ]),
    )
    const blocks = events.flatMap((event) =>
      event.type === 'included' ? [event.log.blockHash] : [],
    )
    expect(new Set(blocks).size).toBe(2)
  },
)

test('a log that does not come back stays removed', async () => {
  const { typesOf } = await startWatch()
  const hash = await includeTransfer()
  await until(() => expect(typesOf(hash)).toEqual(['included']))
  await chain.reorg({ depth: 1, transactions: 'dropped' })
  await until(() => expect(typesOf(hash)).toEqual(['included', 'removed']))
  await seal()
  await looks()
  expect(typesOf(hash)).toEqual(['included', 'removed'])
})

test.each(ways)(
  'a pre-confirmation that is taken back is dropped, over %s',
  async (_, way) => {
    const { typesOf } = await startWatchBy(way)
    const hash = await transfer()
    await tick()
    await until(() => expect(typesOf(hash)).toEqual(['preconfirmed']))
    await chain.preconfirmations.dropPending(hash)
    for (let i = 0; i < 8; i++) await seal()
    await until(() =>
      expect(typesOf(hash)).toEqual(['preconfirmed', 'dropped']),
    )
  },
)

test.each(ways)(
  'a phantom log is pre-confirmed and dropped, once, over %s',
  async (_, way) => {
    const { events } = await startWatchBy(way)
    const transactionHash = `0x${'77'.repeat(32)}` as const
    await chain.preconfirmations.phantomLog({
      address: chain.token,
      transactionHash,
    })
    await until(() =>
      expect(events.map(({ type }) => type)).toEqual(['preconfirmed']),
    )
    await chain.preconfirmations.stall()
    for (let i = 0; i < 8; i++) await seal()
    await looks()
    await chain.preconfirmations.stall(false)
    await until(() =>
      expect(events.map(({ type }) => type)).toEqual([
        'preconfirmed',
        'dropped',
      ]),
    )
  },
)

test('a delta that is sent again is told once', async () => {
  const [, [, way]] = ways
  const { typesOf } = await startWatchBy(way)
  const hash = await transfer()
  await tick()
  await chain.preconfirmations.duplicateDelta()
  await chain.preconfirmations.duplicateDelta()
  await seal()
  await chain.preconfirmations.duplicateDelta()
  await until(() => expect(typesOf(hash)).toContain('included'))
  await looks()
  expect(typesOf(hash)).toEqual(['preconfirmed', 'included'])
})

test('what a full buffer loses of the pre-confirmed is still included', async () => {
  const [, [, way]] = ways
  const { events } = await startWatchBy(way)
  await chain.preconfirmations.slowConsumers()
  const hashes: Hash[] = []
  for (let i = 0; i < 25; i++) {
    hashes.push(await transfer())
    await tick()
  }
  await chain.preconfirmations.slowConsumers(false)
  await looks()
  await seal()
  const hashesOf = (wanted: string) =>
    events.flatMap((event) =>
      event.type === wanted && event.type !== 'gap'
        ? [event.log.transactionHash]
        : [],
    )
  await until(() => expect(hashesOf('included')).toEqual(hashes))
  expect(hashesOf('preconfirmed')).toEqual(hashes.slice(-20))
})

test('a lost connection is made anew, and closes with a gap', async () => {
  const proxy = await openProxy()
  const { events, typesOf, unwatch } = await startWatch({
    webSocket: proxy.url,
    pollingInterval: 60_000,
  })
  await until(() => expect(proxy.seen.connections).toBe(1))
  await looks()
  const first = await includeTransfer()
  await until(() => expect(typesOf(first)).toContain('included'))
  proxy.refuse(true)
  proxy.cut()
  const missed = await includeTransfer()
  await looks()
  expect(typesOf(missed)).toEqual([])
  proxy.refuse(false)
  await until(() => expect(events.at(-1)?.type).toBe('gap'))
  expect(typesOf(missed)).toEqual(['included'])
  const last = await includeTransfer()
  await until(() => expect(typesOf(last)).toEqual(['preconfirmed', 'included']))
  expect(typesOf(first)).toEqual(['preconfirmed', 'included'])
  expect(events.filter(({ type }) => type === 'gap')).toHaveLength(1)
  unwatch()
  proxy.close()
})

test('no log is lost or told twice while connections break', async () => {
  const proxy = await openProxy()
  const { events, unwatch } = await startWatch({ webSocket: proxy.url })
  const hashes: Hash[] = []
  for (let i = 0; i < 12; i++) {
    hashes.push(await includeTransfer())
    if (i % 3 === 1) proxy.cut()
    await new Promise((resolve) => setTimeout(resolve, 40))
  }
  const included = () =>
    events.flatMap((event) =>
      event.type === 'included' ? [event.log.transactionHash] : [],
    )
  await until(() => expect(included()).toEqual(hashes))
  await until(() =>
    expect(events.some(({ type }) => type === 'gap')).toBe(true),
  )
  expect(proxy.seen.connections).toBeGreaterThan(1)
  unwatch()
  proxy.close()
})

const timers = () =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length

test('after unwatch no timer and no socket is left, and nothing is told', async () => {
  const proxy = await openProxy()
  const before = timers()
  const { events, errors, unwatch } = await startWatch({
    webSocket: proxy.url,
    preconfirmed: true,
  })
  await until(() => expect(proxy.seen.connections).toBe(1))
  proxy.cut()
  await until(() => expect(proxy.seen.connections).toBe(2))
  await looks()
  unwatch()
  const told = [events.length, errors.length]
  await includeTransfer()
  await until(() => expect(proxy.open.size).toBe(0))
  await looks()
  expect(timers()).toBeLessThanOrEqual(before)
  expect([events.length, errors.length]).toEqual(told)
  proxy.close()
})

test('a watch ended while it connects leaves nothing either', async () => {
  const proxy = await openProxy()
  const before = timers()
  const { unwatch } = await startWatch({ webSocket: proxy.url })
  unwatch()
  await looks()
  expect(proxy.open.size).toBe(0)
  expect(timers()).toBeLessThanOrEqual(before)
  proxy.close()
})

test('ending one of two watches of a URL leaves the other open', async () => {
  const [, [, way]] = ways
  const one = await startWatchBy(way)
  const other = await startWatchBy(way)
  one.unwatch()
  const hash = await includeTransfer()
  await until(() =>
    expect(other.typesOf(hash)).toEqual(['preconfirmed', 'included']),
  )
  expect(one.typesOf(hash)).toEqual([])
  expect(other.events.every(({ type }) => type !== 'gap')).toBe(true)
})

test('a node without pushed pre-confirmations is followed all the same', async () => {
  chain.setPolicies({ flashblockSubscriptions: 'refused' })
  const [, [, way]] = ways
  const { typesOf, errors } = await startWatchBy(way)
  const hash = await includeTransfer()
  await until(() => expect(typesOf(hash)).toEqual(['included']))
  expect(errors).toEqual([])
})

test('an endpoint that is not there is told, without its path, and polled around', async () => {
  const { typesOf, errors } = await startWatch({
    webSocket: 'ws://127.0.0.1:9/secret-key',
  })
  const hash = await includeTransfer()
  await until(() => expect(typesOf(hash)).toEqual(['included']))
  await until(() => expect(errors[0]).toMatchObject({ name: 'NodeError' }))
  expect(String(errors[0])).not.toContain('secret-key')
})
