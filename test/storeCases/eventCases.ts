import { wait } from '../../src/core/wait.js'
import type {
  Destination,
  EventRecord,
  PaymentStore,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import { drawDestination, drawId, sampleEvent } from './samples.js'
import { expectRefusal, expectSame, tryAgain, useStore } from './tools.js'

/** Rules about events: every reader sees the same stream, without gaps. */
export const eventCases: readonly StoreCase[] = [
  {
    name: 'events take the next cursors in the order in which they are appended',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [destination, other] = [drawDestination(), drawDestination()]
        const destinations = [destination, other]
        await store.write((it) =>
          it.events.append([
            sampleEvent(destination, { sequence: 1 }),
            sampleEvent(other, { sequence: 2 }),
          ]),
        )
        await store.write(async (it) => {
          await it.events.append([sampleEvent(destination, { sequence: 3 })])
          await it.events.append([sampleEvent(other, { sequence: 4 })])
        })
        const found = await findAfter(store, destinations, 0n)
        const order = found.map(({ sequence }) => sequence)
        expectSame('In order', order, [1, 2, 3, 4])
        expectNoGap(found)
      }),
  },
  {
    name: 'a unit of work that fails leaves no gap in the stream',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        await store.write((it) => it.events.append([sampleEvent(destination)]))
        const unit = store.write(async (it) => {
          await it.events.append([
            sampleEvent(destination),
            sampleEvent(destination),
          ])
          throw new TypeError('the work fails')
        })
        await expectRefusal('The write', unit, 'TypeError')
        await store.write((it) => it.events.append([sampleEvent(destination)]))
        const found = await findAfter(store, [destination], 0n)
        expectSame('Events', found.length, 2)
        expectNoGap(found)
      }),
  },
  {
    name: 'a reader of the stream misses nothing, however many write at once',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const [other, watching] = [await openAnother(), await openAnother()]
        const destination = drawDestination()
        await store.write((it) => it.events.append([sampleEvent(destination)]))
        const [first] = await findAfter(store, [destination], 0n)
        const seen: EventRecord[] = first ? [first] : []
        let written = false
        const follow = async () => {
          while (true) {
            const isLast = written
            const after = seen.at(-1)?.cursor ?? 0n
            const found = await findAfter(watching, [destination], after)
            seen.push(...found)
            if (isLast && found.length === 0) return
            await wait(1)
          }
        }
        const append = (handle: PaymentStore, at: number) =>
          tryAgain(() =>
            handle.write(async (it) => {
              const data = { from: at }
              await it.events.append([sampleEvent(destination, { data })])
              await wait(at % 4)
              await it.events.append([
                sampleEvent(destination, { data }),
                sampleEvent(destination, { data }),
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
    name: 'events after a cursor are read in order, up to a limit',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [destination, noise] = [drawDestination(), drawDestination()]
        const rows = Array.from({ length: 12 }, (_, at) =>
          sampleEvent(at % 3 ? destination : noise, { sequence: at }),
        )
        await store.write((it) => it.events.append(rows))
        const pages: number[][] = []
        let after = 0n
        while (pages.length < 9) {
          const page = await findAfter(store, [destination], after, 3)
          pages.push(page.map(({ sequence }) => sequence))
          after = page.at(-1)?.cursor ?? after
          if (page.length === 0) break
        }
        expectSame('Pages', pages, [[1, 2, 4], [5, 7, 8], [10, 11], []])
      }),
  },
  {
    name: 'the newest event is the last of any of the destinations',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [one, other, noise] = [
          drawDestination(),
          drawDestination(),
          drawDestination(),
        ]
        await store.write((it) =>
          it.events.append([
            sampleEvent(one, { sequence: 1 }),
            sampleEvent(other, { sequence: 2 }),
            sampleEvent(one, { sequence: 3 }),
            sampleEvent(noise, { sequence: 4 }),
          ]),
        )
        const find = (newest: Destination[]) =>
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
        expectSame('Of nobody', await find([drawDestination()]), [])
        expectSame('Of none', await find([]), [])
      }),
  },
  {
    name: 'events are found by their orders',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const [one, two, three] = [drawId(), drawId(), drawId()]
        await store.write((it) =>
          it.events.append([
            sampleEvent(destination, { orderId: one, sequence: 1 }),
            sampleEvent(destination, { orderId: two, sequence: 2 }),
            sampleEvent(destination, { sequence: 3 }),
            sampleEvent(destination, { orderId: three, sequence: 4 }),
            sampleEvent(destination, { orderId: one, sequence: 5 }),
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

function findAfter(
  store: PaymentStore,
  destinations: readonly Destination[],
  after: bigint,
  limit = 1_000,
): Promise<EventRecord[]> {
  return store.read(({ events }) => events.find({ destinations, after, limit }))
}

function expectNoGap(events: readonly EventRecord[]): void {
  const cursors = events.map(({ cursor }) => cursor)
  const [first = 0n] = cursors
  const next = cursors.map((_, at) => first + BigInt(at))
  expectSame('Cursors without gaps', cursors, next)
}
