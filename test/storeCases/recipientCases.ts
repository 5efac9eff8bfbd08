import type {
  Destination,
  PaymentStore,
  RecipientQuery,
  RecipientRecord,
} from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import { drawAddress, drawDestination, drawId } from './samples.js'
import { expectRefusal, expectSame, useStore } from './tools.js'

type NewRecipient = Omit<RecipientRecord, 'version'>

const sampleRecipient = (
  shop: string,
  facts: Partial<NewRecipient> = {},
): NewRecipient => ({ ...drawDestination(), shop, removed: false, ...facts })

const insert = (store: PaymentStore, ...rows: readonly NewRecipient[]) =>
  store.write((it) => it.recipients.insert(rows))

const find = (store: PaymentStore, query: RecipientQuery) =>
  store.read((it) => it.recipients.find(query))

const wordOf = ({ chainId, token, recipient }: Destination): string =>
  `${String(chainId).padStart(9, '0')} ${token} ${recipient}`

const sorted = <row extends Destination>(rows: readonly row[]): row[] =>
  [...rows].sort((left, right) => (wordOf(left) < wordOf(right) ? -1 : 1))

/**
 * Rules about recipients of named shops: they are found by shop and by
 * destination.
 */
export const recipientCases: readonly StoreCase[] = [
  {
    name: 'a shop has its own recipients, sorted by chain, token and recipient',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [shop, other] = [drawId(), drawId()]
        const token = drawAddress()
        const rows = [
          sampleRecipient(shop),
          sampleRecipient(shop, { chainId: 10 }),
          sampleRecipient(shop, { token }),
          sampleRecipient(shop, { token, removed: true }),
        ]
        await insert(store, ...rows, sampleRecipient(other))
        const own = sorted(rows).map((row) => ({ ...row, version: 1 }))
        expectSame('Of the shop', await find(store, { shop }), own)
        expectSame('Of none', await find(store, { shop: drawId() }), [])
      }),
  },
  {
    name: 'recipients are found by destination, whatever their shop, also hundreds of them',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [shop, other] = [drawId(), drawId()]
        const token = drawAddress()
        const rows = [
          ...Array.from({ length: 300 }, () =>
            sampleRecipient(shop, { token }),
          ),
          sampleRecipient(other, { token }),
        ]
        const [first, ...others] = rows
        await insert(store, ...rows, sampleRecipient(other, { token }))
        const strange = drawDestination({ token })
        const ask = async (destinations: readonly Destination[]) =>
          sorted(await find(store, { destinations }))
        const kept = sorted(rows).map((row) => ({ ...row, version: 1 }))
        expectSame('All', await ask([...rows, strange]), kept)
        const few = [...others.slice(-2), strange]
        expectSame(
          'Some',
          await ask(few),
          sorted(others.slice(-2)).map((row) => ({ ...row, version: 1 })),
        )
        if (!first) throw new Error('no row')
        const crossed = [{ ...first, chainId: first.chainId + 1 }]
        expectSame('Of another chain', await ask(crossed), [])
        expectSame('None', await ask([]), [])
      }),
  },
  {
    name: 'a destination has one row, of one shop, and changes by compare-and-set',
    run: (createStore) =>
      useStore(createStore, async (store) => {
        const [shop, other] = [drawId(), drawId()]
        const row = sampleRecipient(shop)
        await insert(store, row)
        await expectRefusal(
          'Of another shop',
          insert(store, sampleRecipient(other), { ...row, shop: other }),
          'DuplicateRecordError',
        )
        expectSame('Kept of that', await find(store, { shop: other }), [])
        const change = (version: number, facts: Partial<NewRecipient>) =>
          store.write((it) =>
            it.recipients.update([{ ...row, version, ...facts }]),
          )
        await change(1, { removed: true })
        const removed = { ...row, version: 2, removed: true }
        expectSame('Removed', await find(store, { shop }), [removed])
        await expectRefusal('The stale one', change(1, {}), 'StaleRecordError')
        await change(2, { shop: other })
        expectSame('Left', await find(store, { shop }), [])
        const moved = { ...row, version: 3, shop: other }
        expectSame('Moved', await find(store, { shop: other }), [moved])
      }),
  },
]
