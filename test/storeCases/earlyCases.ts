import type { PaymentStore } from '../../src/store/types.js'
import type { StoreCase } from '../../src/testing/storeCase.js'
import {
  drawAddress,
  drawDestination,
  maxAmount,
  oddText,
  sampleOrder,
} from './samples.js'
import { expectSame, useStore } from './tools.js'

/**
 * Rules about orders that were answered when their payment was pre-confirmed,
 * before a block had it.
 */
export const earlyCases: readonly StoreCase[] = [
  {
    name: 'orders of a token are found by the state of their early answer',
    run: (createStore) =>
      useStore(createStore, async (store, openAnother) => {
        const destination = drawDestination()
        const payer = drawAddress()
        const rows = (['reserved', 'answered', 'unpaid'] as const).map(
          (early) =>
            sampleOrder(destination, {
              early,
              earlyFor: oddText,
              payer,
              value: maxAmount,
              captureValue: 1n,
            }),
        )
        const others = [
          sampleOrder(destination),
          sampleOrder(destination, { early: 'paid' }),
          sampleOrder(drawDestination(), { early: 'reserved' }),
          sampleOrder({ ...destination, chainId: 1 }, { early: 'reserved' }),
        ]
        await store.write((it) => it.orders.insert([...rows, ...others]))
        const [reserved, answered, unpaid] = rows.map(
          ({ id, recipient, value, captureValue, earlyFor }) => ({
            id,
            recipient,
            payer,
            value,
            captureValue,
            earlyFor,
          }),
        )
        const other = await openAnother()
        const { chainId, token } = destination
        const find = (
          from: PaymentStore,
          ...early: ('reserved' | 'answered' | 'unpaid')[]
        ) => from.read((it) => it.orders.findEarly({ chainId, token, early }))
        expectSame('Of none', await find(other), [])
        expectSame('Reserved', await find(other, 'reserved'), [reserved])
        expectSame('Unpaid', await find(store, 'unpaid'), [unpaid])
        expectSame(
          'At risk',
          await find(other, 'reserved', 'answered', 'reserved'),
          [reserved, answered],
        )
        await store.write(async (it) => {
          const ids = rows.map(({ id }) => id)
          const [first, second] = await it.orders.find({ ids })
          if (!first || !second) return
          await it.orders.update([
            { ...first, early: undefined },
            { ...second, early: 'paid' },
          ])
          expectSame(
            'In the unit of work that ends them',
            await it.orders.findEarly({
              chainId,
              token,
              early: ['reserved', 'answered'],
            }),
            [],
          )
        })
        expectSame(
          'After them',
          await find(other, 'reserved', 'answered', 'unpaid'),
          [unpaid],
        )
      }),
  },
]
