import type {
  ChannelQuery,
  ChannelRecord,
  ChannelState,
  Destination,
  PaymentStore,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  drawHash,
  maxAmount,
  maxTime,
  oddText,
} from './samples.js'
import { expectRefusal, expectSame, useStore } from './tools.js'

type NewChannel = Omit<ChannelRecord, 'version' | 'position'>

const limit = 100

/** The largest amount of a channel: the contract counts in 128 bits. */
const maxCounted = 2n ** 128n - 1n

/** Returns a channel that was stored before its first deposit. */
const sampleChannel = (
  { chainId, token, recipient }: Destination,
  facts: Partial<NewChannel> = {},
): NewChannel => ({
  chainId,
  token,
  recipient,
  id: drawHash(),
  payer: drawAddress(),
  payerAuthorizer: drawAddress(),
  receiverAuthorizer: drawAddress(),
  withdrawDelay: 900,
  salt: drawHash(),
  state: 'opening',
  reason: undefined,
  charged: 0n,
  signed: 0n,
  voucher: undefined,
  balance: 0n,
  claimed: 0n,
  withdrawing: 0n,
  withdrawableAt: undefined,
  refundNonce: 0n,
  seenBlock: 1n,
  seenAt: 1_750_000_000n,
  depositId: undefined,
  unclaimedSince: undefined,
  due: undefined,
  usedAt: 1_750_000_000n,
  ...facts,
})

/** Returns all optional members of a channel, with large values. */
const fullChannelFacts = (): Partial<NewChannel> => ({
  withdrawDelay: 2_592_000,
  // A newer version of this library may write states that this version does
  // not know. The store must keep them.
  state: String(oddText) as ChannelState,
  reason: oddText,
  charged: maxCounted - 2n,
  signed: maxCounted - 1n,
  voucher: `key-1 1 ${'x'.repeat(1_000)}`,
  balance: maxCounted,
  claimed: maxCounted - 3n,
  withdrawing: maxCounted - 4n,
  withdrawableAt: maxTime,
  refundNonce: maxAmount,
  seenBlock: maxTime,
  seenAt: maxTime,
  depositId: 'd'.repeat(200),
  unclaimedSince: maxTime,
  due: maxTime,
  usedAt: maxTime,
})

/**
 * Inserts each channel in a database transaction of its own, and returns their
 * ids.
 */
async function insertAll(
  store: PaymentStore,
  destination: Destination,
  facts: readonly Partial<NewChannel>[],
): Promise<ChannelRecord['id'][]> {
  const rows = facts.map((own) => sampleChannel(destination, own))
  for (const row of rows) await store.write((it) => it.channels.insert([row]))
  return rows.map(({ id }) => id)
}

const find = (store: PaymentStore, query: ChannelQuery) =>
  store.read((it) => it.channels.find(query))

const findIds = async (store: PaymentStore, query: ChannelQuery) =>
  (await find(store, query)).map(({ id }) => id)

async function findOne(
  store: PaymentStore,
  id: ChannelRecord['id'],
): Promise<ChannelRecord> {
  const [found] = await find(store, { ids: [id] })
  if (!found) throw new Error('The channel was not found.')
  return found
}

/** Rules about payment channels. */
export const channelCases: readonly StoreCase[] = [
  {
    name: 'a channel comes back as it was given, and counts its updates',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const full = sampleChannel(drawDestination(), fullChannelFacts())
        await store.write((it) => it.channels.insert([full]))
        const found = await findOne(await openAnother(), full.id)
        const { position } = found
        expectSame('The first', found, { ...full, version: 1, position })
        const changed: ChannelRecord = {
          ...found,
          state: 'open',
          reason: undefined,
          voucher: undefined,
          charged: maxCounted,
          signed: maxCounted,
          withdrawing: 0n,
          withdrawableAt: undefined,
          depositId: undefined,
          unclaimedSince: undefined,
          due: undefined,
        }
        await store.write((it) => it.channels.update([changed]))
        const second = { ...changed, version: 2 }
        expectSame('The second', await findOne(store, full.id), second)
      }),
  },
  {
    name: 'a second channel of one id, and an update of an older version, are refused and leave the row as it was',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const row = sampleChannel(drawDestination())
        await store.write((it) => it.channels.insert([row]))
        const elsewhere = sampleChannel(drawDestination(), { id: row.id })
        const twice = store.write((it) => it.channels.insert([elsewhere]))
        await expectRefusal('The second', twice, 'DuplicateRecordError')
        const kept = await findOne(store, row.id)
        const once = { ...kept, charged: 1n }
        await store.write((it) => it.channels.update([once]))
        const stale = store.write((it) =>
          it.channels.update([{ ...kept, charged: 2n }]),
        )
        await expectRefusal('The stale one', stale, 'StaleRecordError')
        const missing = store.write((it) =>
          it.channels.update([{ ...kept, id: drawHash() }]),
        )
        await expectRefusal('The missing one', missing, 'StaleRecordError')
        const end = { ...once, version: 2 }
        expectSame('At the end', await findOne(store, row.id), end)
      }),
  },
  {
    name: 'a unit of work that throws changes no channel, and stores none',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const [id = '0x'] = await insertAll(store, destination, [{}])
        const before = await findOne(store, id)
        const added = sampleChannel(destination)
        const failure = new Error('the work fails')
        const unit = store.write(async (it) => {
          await it.channels.insert([added])
          const rows = await it.channels.find({ ids: [id, added.id] })
          await it.channels.update(rows.map((row) => ({ ...row, charged: 7n })))
          const own = await it.channels.find({ ids: [added.id] })
          const seen = own.map(({ charged, version }) => [charged, version])
          expectSame('What the unit sees', seen, [[7n, 2]])
          throw failure
        })
        const error = await unit.catch((it: unknown) => it)
        expectSame('Its own error comes out', error === failure, true)
        const listed = await find(store, { listed: [destination], limit })
        expectSame('At the end', listed, [before])
      }),
  },
  {
    name: 'channels are found by their ids, in the sequence of the ids',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destinations = [drawDestination(), drawDestination()]
        const ids: ChannelRecord['id'][] = []
        for (const destination of destinations)
          ids.push(...(await insertAll(store, destination, [{}, {}])))
        const [one = '0x', two = '0x', three = '0x'] = ids
        const asked = [three, one, drawHash(), two, one]
        const found = await findIds(store, { ids: asked })
        expectSame('Some', found, [three, one, two])
        expectSame('None', await findIds(store, { ids: [] }), [])
      }),
  },
  {
    name: 'channels are listed by destination and payer, the newest first',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [here, there] = [drawDestination(), drawDestination()]
        const payer = drawAddress()
        const [one, two] = await insertAll(store, here, [{ payer }, {}])
        const [other] = await insertAll(store, there, [{ payer }])
        const listed = [here, there, here]
        const ask = (facts: object) =>
          findIds(store, { listed, limit, ...facts })
        expectSame('All', await ask({}), [other, two, one])
        expectSame('Of the payer', await ask({ payer }), [other, one])
        expectSame('One', await ask({ limit: 1 }), [other])
        const [newest] = await find(store, { listed, limit })
        const before = newest?.position
        expectSame('Earlier ones', await ask({ before }), [two, one])
        expectSame('One place', await ask({ listed: [there] }), [other])
        const strangers = Array.from({ length: 150 }, () =>
          drawDestination({ token: here.token }),
        )
        await insertAll(store, drawDestination({ token: here.token }), [
          { payer },
        ])
        const many = [here, ...strangers]
        expectSame('Of many', await ask({ listed: many }), [two, one])
        const own = await ask({ listed: many, payer })
        expectSame('Of the payer among many', own, [one])
        expectSame('Of no place', await ask({ listed: [] }), [])
      }),
  },
  {
    name: 'due channels of a destination are found, the earliest first, up to the limit',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const dues = [9n, 5n, undefined, 7n, 10n]
        const ids = await insertAll(
          store,
          destination,
          dues.map((due) => ({ due })),
        )
        await insertAll(store, drawDestination(), [{ due: 5n }])
        const drawOther = () => ({ ...destination, recipient: drawAddress() })
        const [other, elsewhere] = [drawOther(), drawDestination()]
        const [late, early] = await insertAll(store, other, [
          { due: 8n },
          { due: 6n },
        ])
        const [far] = await insertAll(store, elsewhere, [{ due: 5n }])
        const ask = (due: readonly Destination[], most = limit) =>
          findIds(store, { due, until: 9n, limit: most })
        const own = await ask([destination])
        expectSame('All', own, [ids[1], ids[3], ids[0]])
        expectSame('Two', await ask([destination], 2), [ids[1], ids[3]])
        const both = [destination, other, destination]
        const merged = [ids[1], early, ids[3], late, ids[0]]
        expectSame('Of two recipients', await ask(both), merged)
        const tokens = await ask([elsewhere, ...both], 3)
        expectSame('Of two tokens', tokens, [ids[1], far, early])
        const others = Array.from({ length: 200 }, drawOther)
        const many = Object.freeze([...both, ...others])
        expectSame('Among many', await ask(many), merged)
        await insertAll(store, drawOther(), [{ due: 1n }])
        expectSame('Beside a stranger', await ask(many), merged)
        expectSame('The first of many', await ask(many, 1), [ids[1]])
        expectSame('Of none', await ask([]), [])
      }),
  },
  {
    name: 'channels that are open or have a balance are watched, the oldest first, up to the limit',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const balances = [1n, 0n, maxCounted, 10n]
        const ids = await insertAll(
          store,
          destination,
          balances.map((balance) => ({ balance, state: 'stopped' as const })),
        )
        const elsewhere = drawDestination()
        const [far] = await insertAll(store, elsewhere, [{ balance: 5n }])
        const ask = (watched: readonly Destination[], facts: object = {}) =>
          findIds(store, { watched, limit, ...facts })
        const own = [ids[0], ids[2], ids[3]]
        expectSame('All', await ask([destination]), own)
        const two = await ask([destination], { limit: 2 })
        expectSame('Two', two, [ids[0], ids[2]])
        const all = await ask([elsewhere, destination, elsewhere])
        expectSame('Of two tokens', all, [...own, far])
        const after = (await findOne(store, ids[2] ?? '0x')).position
        const later = await ask([destination, elsewhere], { after })
        expectSame('Later ones', later, [ids[3], far])
        const strangers = Array.from({ length: 150 }, () => ({
          ...destination,
          recipient: drawAddress(),
        }))
        const stranger = { ...destination, recipient: drawAddress() }
        await insertAll(store, stranger, [{ balance: 1n }])
        const many = await ask([destination, ...strangers])
        expectSame('Among many', many, own)
        await store.write(async (it) => {
          const rows = await it.channels.find({ ids: ids.slice(0, 2) })
          await it.channels.update(
            rows.map((row) => ({ ...row, balance: row.balance ? 0n : 3n })),
          )
        })
        const changed = [ids[1], ids[2], ids[3]]
        expectSame('After a change', await ask([destination]), changed)
        const opening = { state: 'opening', balance: 0n } as const
        const [fresh] = await insertAll(store, destination, [opening])
        const more = [...changed, fresh]
        expectSame('Without a balance', await ask([destination]), more)
        const owing = { state: 'stopped', balance: 0n, charged: 5n } as const
        const [lost] = await insertAll(store, destination, [owing])
        const withLost = [...more, lost]
        expectSame('Whose deposit is gone', await ask([destination]), withLost)
      }),
  },
  {
    name: 'vouchers of channels are counted and found by the name of their key, the oldest first, page by page',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const destination = drawDestination()
        const vouchers = ['key-1 1 a', 'key-2 1 b', undefined, 'key-1 1 c']
        const ids = await insertAll(
          store,
          destination,
          vouchers.map((voucher) => ({ voucher })),
        )
        const other = { ...destination, recipient: drawAddress() }
        const [next] = await insertAll(store, other, [{ voucher: 'none' }])
        const count = (...destinations: Destination[]) =>
          store.read(({ secrets }) => secrets.countKeys(destinations))
        const own = { 'key-1': 2, 'key-2': 1 }
        expectSame('Of one', await count(destination), own)
        const both = [destination, other, destination]
        expectSame('Of both', await count(...both), { ...own, '': 1 })
        const ask = (facts: object = {}) =>
          findIds(store, {
            sealed: [destination],
            except: 'key-2',
            limit,
            ...facts,
          })
        expectSame('Of another key', await ask(), [ids[0], ids[3]])
        expectSame('The first', await ask({ limit: 1 }), [ids[0]])
        const after = (await findOne(store, ids[0] ?? '0x')).position
        expectSame('After it', await ask({ after }), [ids[3]])
        const all = [ids[0], ids[3], next]
        expectSame('Of both', await ask({ sealed: both }), all)
        const strangers = Array.from({ length: 150 }, () => ({
          ...destination,
          recipient: drawAddress(),
        }))
        const many = [destination, ...strangers]
        const among = await ask({ sealed: many })
        expectSame('Among many', among, [ids[0], ids[3]])
        expectSame('Counted among many', await count(...many), own)
        expectSame('Of none', await ask({ sealed: [] }), [])
      }),
  },
]
