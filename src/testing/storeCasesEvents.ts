import { wait } from '../core/wait.js'
import type { EventRecord, PaymentStore, Scope } from '../store/types.js'
import { drawId, drawScope, sampleEvent } from './storeCasesSamples.js'
import {
  expectRefusal,
  expectSame,
  type StoreCase,
  tryAgain,
  useStore,
} from './storeCasesTools.js'

/** One stream, without gaps, for all who read. */
export const eventCases: readonly StoreCase[] = [
  {
    name: 'events take the next cursors in the order in which they are appended',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [scope, other] = [drawScope(), drawScope()]
        const scopes = [scope, other]
        await store.write((it) =>
          it.events.append([
            sampleEvent(scope, { sequence: 1 }),
            sampleEvent(other, { sequence: 2 }),
          ]),
        )
        await store.write(async (it) => {
          await it.events.append([sampleEvent(scope, { sequence: 3 })])
          await it.events.append([sampleEvent(other, { sequence: 4 })])
        })
        const found = await readAfter(store, scopes, 0n)
        const order = found.map(({ sequence }) => sequence)
        expectSame('In order', order, [1, 2, 3, 4])
        expectNoGap(found)
      }),
  },
  {
    name: 'a unit of work that fails leaves no gap in the stream',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const scope = drawScope()
        await store.write((it) => it.events.append([sampleEvent(scope)]))
        const unit = store.write(async (it) => {
          await it.events.append([sampleEvent(scope), sampleEvent(scope)])
          throw new TypeError('the work fails')
        })
        await expectRefusal('The write', unit, 'TypeError')
        await store.write((it) => it.events.append([sampleEvent(scope)]))
        const found = await readAfter(store, [scope], 0n)
        expectSame('Events', found.length, 2)
        expectNoGap(found)
      }),
  },
  {
    name: 'who follows the stream misses nothing, however many write at once',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const [other, watching] = [await openAnother(), await openAnother()]
        const scope = drawScope()
        await store.write((it) => it.events.append([sampleEvent(scope)]))
        const [first] = await readAfter(store, [scope], 0n)
        const seen: EventRecord[] = first ? [first] : []
        let written = false
        const follow = async () => {
          while (true) {
            const isLast = written
            const after = seen.at(-1)?.cursor ?? 0n
            const found = await readAfter(watching, [scope], after)
            seen.push(...found)
            if (isLast && found.length === 0) return
            await wait(1)
          }
        }
        const append = (handle: PaymentStore, at: number) =>
          tryAgain(() =>
            handle.write(async (it) => {
              const data = { from: at }
              await it.events.append([sampleEvent(scope, { data })])
              await wait(at % 4)
              await it.events.append([
                sampleEvent(scope, { data }),
                sampleEvent(scope, { data }),
              ])
            }),
          )
        const following = follow()
        await Promise.all(
          Array.from({ length: 30 }, (_, at) =>
            append(at % 2 ? store : other, at),
          ),
        ).finally(() => {
          written = true
        })
        await following
        expectSame('Events seen', seen.length, 91)
        expectNoGap(seen)
        const writers = seen.slice(1).map(({ data }) => data.from)
        const together = writers.every(
          (writer, at) => at % 3 === 0 || writer === writers[at - 1],
        )
        expectSame('The events of a unit stand together', together, true)
      }),
  },
  {
    name: 'the stream is read from after a cursor, so many at a time, in order',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [scope, noise] = [drawScope(), drawScope()]
        const rows = Array.from({ length: 12 }, (_, at) =>
          sampleEvent(at % 3 ? scope : noise, { sequence: at }),
        )
        await store.write((it) => it.events.append(rows))
        const pages: number[][] = []
        let after = 0n
        while (pages.length < 9) {
          const page = await readAfter(store, [scope], after, 3)
          pages.push(page.map(({ sequence }) => sequence))
          after = page.at(-1)?.cursor ?? after
          if (page.length === 0) break
        }
        expectSame('Pages', pages, [[1, 2, 4], [5, 7, 8], [10, 11], []])
      }),
  },
  {
    name: 'the newest event is the last of any of the scopes',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [one, other, noise] = [drawScope(), drawScope(), drawScope()]
        await store.write((it) =>
          it.events.append([
            sampleEvent(one, { sequence: 1 }),
            sampleEvent(other, { sequence: 2 }),
            sampleEvent(one, { sequence: 3 }),
            sampleEvent(noise, { sequence: 4 }),
          ]),
        )
        const find = (newest: Scope[]) =>
          store.read(async ({ events }) =>
            (await events.find({ newest })).map(({ sequence }) => sequence),
          )
        expectSame('Of both', await find([other, one]), [3])
        expectSame('Of one', await find([other]), [2])
        const [last] = await store.read(({ events }) =>
          events.find({ newest: 'all' }),
        )
        const noised = await find([noise])
        expectSame('Of all', last ? [last.sequence] : [], noised)
        expectSame('Of nobody', await find([drawScope()]), [])
        expectSame('Of none', await find([]), [])
      }),
  },
  {
    name: 'events are found by their orders',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const scope = drawScope()
        const [one, two, three] = [drawId(), drawId(), drawId()]
        await store.write((it) =>
          it.events.append([
            sampleEvent(scope, { orderId: one, sequence: 1 }),
            sampleEvent(scope, { orderId: two, sequence: 2 }),
            sampleEvent(scope, { sequence: 3 }),
            sampleEvent(scope, { orderId: three, sequence: 4 }),
            sampleEvent(scope, { orderId: one, sequence: 5 }),
          ]),
        )
        const find = (orderIds: string[]) =>
          store.read(async ({ events }) =>
            (await events.find({ orderIds }))
              .map(({ sequence }) => sequence)
              .sort(),
          )
        expectSame('Of one', await find([one]), [1, 5])
        expectSame('Of two', await find([two, three, drawId()]), [2, 4])
        expectSame('Of none', await find([]), [])
      }),
  },
]

function readAfter(
  store: PaymentStore,
  scopes: readonly Scope[],
  after: bigint,
  limit = 1_000,
): Promise<EventRecord[]> {
  return store.read(({ events }) => events.find({ scopes, after, limit }))
}

function expectNoGap(events: readonly EventRecord[]): void {
  const cursors = events.map(({ cursor }) => cursor)
  const [first = 0n] = cursors
  const next = cursors.map((_, at) => first + BigInt(at))
  expectSame('Cursors without gaps', cursors, next)
}
