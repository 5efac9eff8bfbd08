import { type BrokenStore, inFinds, inWrites, mapRows } from './spoilStore.js'

/** Stores whose recipients of named shops are wrong. */
export const brokenRecipients: readonly BrokenStore[] = [
  {
    defect: 'recipients of a shop come in any order',
    make: inFinds(({ recipients }) => ({
      recipients: mapRows(recipients, (rows) => rows.reverse()),
    })),
    fails: [
      'a shop has its own recipients, sorted by chain, token and recipient',
    ],
  },
  {
    defect: 'only a hundred recipients are found',
    make: inFinds(({ recipients }) => ({
      recipients: mapRows(recipients, (rows) => rows.slice(0, 100)),
    })),
    fails: [
      'recipients are found by destination, whatever their shop, also hundreds of them',
    ],
  },
  {
    defect: 'a recipient is taken from its shop by another one',
    make: inWrites(({ recipients }) => ({
      recipients: {
        ...recipients,
        insert: async (rows) => {
          for (const row of rows) {
            const [kept] = await recipients.find({ destinations: [row] })
            if (kept) await recipients.update([{ ...kept, ...row }])
            else await recipients.insert([row])
          }
        },
      },
    })),
    fails: [
      'a destination has one row, of one shop, and changes by compare-and-set',
    ],
  },
]
