import type { PaymentStore } from 'countersign/store'
import {
  type Broken,
  type BrokenStore,
  inFinds,
  inStore,
  inWrites,
  mapRows,
  skipKnown,
} from './spoilStore.js'

const nothing: PaymentStore['archive'] = async () => {
  return { moved: 0, last: undefined }
}

const withArchive =
  (make: Broken): Broken =>
  () => {
    const create = make()
    return async () => ({ ...(await create()), archive: nothing })
  }

/** Stores whose archive keeps too little, too much or nothing apart. */
export const brokenArchive: readonly BrokenStore[] = [
  {
    defect: 'nothing is archived',
    make: inStore(() => ({ archive: nothing })),
    fails: [
      'what was archived is found as before',
      'only what is over is archived',
      'an archived order that changes comes back with all that belongs to it',
      'the archive is filled by pages, while orders change',
    ],
  },
  {
    defect: 'whatever is old is archived',
    make: inStore(() => ({
      archive: async () => ({ moved: 1, last: undefined }),
    })),
    fails: [
      'an order with a secret or a transaction in flight is not archived',
    ],
  },
  {
    defect: 'an id of the archive is left out without a word',
    make: withArchive(
      inWrites(({ orders }) => ({
        orders: {
          ...orders,
          insert: (rows) =>
            skipKnown(
              rows,
              ({ id }) => orders.find({ ids: [id] }),
              orders.insert,
            ),
        },
      })),
    ),
    fails: ['no row repeats one of the archive'],
  },
  {
    defect: 'archived orders are listed first',
    make: withArchive(
      inFinds(({ orders }) => ({
        orders: mapRows(orders, (rows, query) =>
          'listed' in query ? [...rows].reverse() : rows,
        ),
      })),
    ),
    fails: ['orders after archived ones have higher positions'],
  },
]
