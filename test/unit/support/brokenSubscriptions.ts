import type { BrokenStore } from './spoilStore.js'
import { inFinds, inWrites, mapRows, skipKnown } from './spoilStore.js'

/** Stores whose subscriptions are wrong. */
export const brokenSubscriptions: readonly BrokenStore[] = [
  {
    defect: 'subscriptions lose their price',
    make: inFinds(({ subscriptions }) => ({
      subscriptions: mapRows(subscriptions, (rows) =>
        rows.map((row) => ({ ...row, price: undefined })),
      ),
    })),
    fails: [
      'a subscription comes back as it was given, and counts its updates',
    ],
  },
  {
    defect: 'a second subscription of one id is left out in silence',
    make: inWrites(({ subscriptions }) => ({
      subscriptions: {
        ...subscriptions,
        insert: (rows) =>
          skipKnown(
            rows,
            ({ id }) => subscriptions.find({ ids: [id] }),
            subscriptions.insert,
          ),
      },
    })),
    fails: [
      'a second subscription of one id, and an update of an older version, are refused',
    ],
  },
  {
    defect: 'subscriptions are listed in any order, and due ones too',
    make: inFinds(({ subscriptions }) => ({
      subscriptions: mapRows(subscriptions, (rows) => rows.reverse()),
    })),
    fails: [
      'subscriptions are listed by destination and payer, the newest first',
      'due subscriptions of a destination are found, the earliest first, up to the limit',
    ],
  },
  {
    defect: 'charges are found with the order that holds the permission',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: async (query) => {
          const found = await orders.find(query)
          const [first] = found
          if (!('chargesOf' in query) || !first) return found
          return [...found, { ...first, id: query.chargesOf }]
        },
      },
    })),
    fails: ['charges are found by their subscription, the newest first'],
  },
  {
    defect: 'orders that hold permissions are counted',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        count: async (destinations) => ({
          ...(await orders.count(destinations)),
          stored: 1,
        }),
      },
    })),
    fails: [
      'orders that hold permissions are neither listed nor counted, and charges are',
    ],
  },
]
