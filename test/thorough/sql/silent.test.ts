import { postgresStore } from 'countersign/sql'
import type { PaymentStore } from 'countersign/store'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import {
  connectionString,
  openStore,
} from '../../chain/support/postgresStore.js'
import { startTcpProxy, type TcpProxy } from '../../chain/support/tcpProxy.js'
import {
  drawDestination,
  drawId,
  sampleEvent,
  sampleOrder,
} from '../../storeCases/samples.js'

const patience = { timeout: 60_000 }

/** The most that a call may take, and what a busy machine adds. */
const longest = 10_000 + 1_500

/** A store whose connections lead through a proxy. */
async function openThrough(
  parameters: (url: string) => Parameters<typeof postgresStore>[0],
): Promise<{ store: PaymentStore; proxy: TcpProxy }> {
  const proxy = await startTcpProxy(connectionString)
  const url = new URL(connectionString)
  url.port = new URL(proxy.url).port
  const store = postgresStore(parameters(String(url)))
  onTestFinished(() => store.close())
  await store.open()
  return { store, proxy }
}

type End = { error: unknown; took: number }

/** Reports how a call ended, and after how many milliseconds. */
async function endOf(call: Promise<unknown>): Promise<End> {
  const since = performance.now()
  const error = await call.then(
    () => undefined,
    (error: unknown) => error,
  )
  return { error, took: performance.now() - since }
}

function expectOnTime(ends: readonly End[]): void {
  for (const { error, took } of ends) {
    expect(took).toBeLessThan(longest)
    if (error !== undefined) expect(error).toMatchObject({ retryable: true })
  }
}

const write = (store: PaymentStore, id: string) =>
  store.write(async (it) => {
    await it.orders.insert([sampleOrder(drawDestination(), { id })])
    await it.events.append([sampleEvent(drawDestination())])
  })

const pools = {
  'of the store': (url: string) => ({ connectionString: url }),
  'that was given': (url: string) => {
    const pool = new pg.Pool({ connectionString: url })
    pool.on('error', () => undefined)
    onTestFinished(() => pool.end())
    return { pool }
  },
}

test.each(Object.entries(pools))(
  'connections of a pool %s that go silent cost nothing and leave the pool',
  patience,
  async (_, parameters) => {
    const { store, proxy } = await openThrough(parameters)
    const own = openStore()
    await own.open()
    // Ten calls are in the middle of their work, and five wait for a connection.
    let working = 0
    let goOn = () => {}
    const isSilent = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const ids = Array.from({ length: 15 }, drawId)
    const calls = ids.map((id) =>
      endOf(
        store.write(async (it) => {
          working++
          await isSilent
          await it.orders.insert([sampleOrder(drawDestination(), { id })])
          await it.events.append([sampleEvent(drawDestination())])
        }),
      ),
    )
    await expect.poll(() => working).toBe(10)
    proxy.freeze()
    goOn()
    expectOnTime(await Promise.all(calls))
    const later = Array.from({ length: 15 }, drawId)
    const ends = await Promise.all(later.map((id) => endOf(write(store, id))))
    expect(ends.map(({ error }) => error)).toEqual(later.map(() => undefined))
    const rows = await own.read((it) =>
      it.orders.find({ ids: [...ids, ...later] }),
    )
    expect(rows).toHaveLength(30)
  },
)

test(
  'idle connections that went silent hold up one call, and only once',
  patience,
  async () => {
    const { store, proxy } = await openThrough(pools['of the store'])
    await Promise.all(Array.from({ length: 10 }, () => write(store, drawId())))
    proxy.freeze()
    expectOnTime([await endOf(write(store, drawId()))])
    for (let call = 0; call < 12; call++)
      expect((await endOf(write(store, drawId()))).took).toBeLessThan(2_000)
  },
)

test(
  'a server that lets in and then says nothing is given up on time, and found again',
  patience,
  async () => {
    const { store, proxy } = await openThrough(pools['of the store'])
    proxy.freeze()
    proxy.mute(true)
    const ends = await Promise.all(
      Array.from({ length: 15 }, () => endOf(write(store, drawId()))),
    )
    expectOnTime(ends)
    for (const { error } of ends)
      expect(error).toMatchObject({
        name: 'StoreError',
        message: expect.stringMatching(/^The store cannot reach its database/),
      })
    proxy.mute(false)
    expect(await endOf(write(store, drawId()))).toMatchObject({
      error: undefined,
    })
  },
)

test(
  'a commit whose answer never comes is told as that, and not run again',
  patience,
  async () => {
    let isArmed = false
    let lose = () => {}
    const { store, proxy } = await openThrough((url) => {
      const { pool } = pools['that was given'](url)
      // Drops the way back once the commit is asked.
      const connect = async () => {
        const client = await pool.connect()
        const query = (request: { text: string }) => {
          if (isArmed && request.text.endsWith('commit')) lose()
          return client.query(request)
        }
        return {
          query,
          on: client.on.bind(client),
          removeListener: client.removeListener.bind(client),
          release: client.release.bind(client),
        }
      }
      return {
        pool: {
          connect,
          on: pool.on.bind(pool),
          removeListener: pool.removeListener.bind(pool),
          end: () => pool.end(),
        },
      }
    })
    lose = proxy.freezeBack
    const own = openStore()
    await own.open()
    isArmed = true
    let runs = 0
    const key = drawId()
    const end = await endOf(
      store.write(async (it) => {
        runs++
        await it.setValue(key, { runs })
      }),
    )
    isArmed = false
    expectOnTime([end])
    expect(end.error).toMatchObject({
      message: 'The store does not know whether the last write was saved.',
      retryable: true,
    })
    expect(runs).toBe(1)
    expect(await own.read((it) => it.getValue(key))).toEqual({ runs: 1 })
    await store.write((it) => it.setValue(key, { runs: 2 }))
  },
)

test(
  'locks of a silent connection are free again within seconds',
  patience,
  async () => {
    const { store, proxy } = await openThrough(pools['of the store'])
    const other = openStore()
    await other.open()
    const id = drawId()
    await write(other, id)
    const isOver = new Promise<void>((over) => onTestFinished(() => over()))
    const isHeld = new Promise<void>((held) => {
      void store
        .write(async (it) => {
          await it.orders.find({ ids: [id] })
          held()
          await isOver
        })
        .catch(() => undefined)
    })
    await isHeld
    proxy.freeze()
    const end = await endOf(
      other.write(async (it) => {
        const rows = await it.orders.find({ ids: [id] })
        await it.orders.update(rows.map((row) => ({ ...row, tries: 1 })))
      }),
    )
    expect(end.error).toBeUndefined()
    expectOnTime([end])
  },
)

test(
  'a listener whose connection went silent hears again within seconds',
  patience,
  async () => {
    const { store, proxy } = await openThrough((url) => ({
      connectionString: url,
      listen: url,
    }))
    const other = openStore()
    await other.open()
    let heard = 0
    onTestFinished(
      store.onChange?.(() => {
        heard++
      }) ?? (() => undefined),
    )
    await expect.poll(() => heard, patience).toBe(1)
    proxy.freeze()
    // Whoever listens again is told at once, since it may have missed something.
    await expect.poll(() => heard, { timeout: longest }).toBe(2)
    await other.write((it) => it.setValue('told', {}))
    await expect.poll(() => heard).toBe(3)
  },
)
