import type { BrokenStore } from './spoilStore.js'
import {
  inFinds,
  inWrites,
  mapRows,
  overwrite,
  skipKnown,
} from './spoilStore.js'

const comesBack = 'a channel comes back as it was given, and counts its updates'
const refuses =
  'a second channel of one id, and an update of an older version, are refused and leave the row as it was'
const byIds = 'channels are found by their ids, in the sequence of the ids'
const lists = 'channels are listed by destination and payer, the newest first'
const findsDue =
  'due channels of a destination are found, the earliest first, up to the limit'
const watches =
  'channels that are open or have a balance are watched, the oldest first, up to the limit'
const sealed =
  'vouchers of channels are counted and found by the name of their key, the oldest first, page by page'

/** Stores whose channels are wrong. */
export const brokenChannels: readonly BrokenStore[] = [
  {
    defect: 'amounts of channels are cut to 64 bits',
    make: inFinds(({ channels }) => ({
      channels: mapRows(channels, (rows) =>
        rows.map((row) => ({
          ...row,
          balance: BigInt.asUintN(64, row.balance),
        })),
      ),
    })),
    fails: [comesBack],
  },
  {
    defect: 'channels keep what is to become absent',
    make: inFinds(({ channels }) => ({
      channels: mapRows(channels, (rows) =>
        rows.map((row) => ({ ...row, voucher: row.voucher ?? 'key-1 1 a' })),
      ),
    })),
    fails: [comesBack],
  },
  {
    defect: 'a second channel of one id is left out in silence',
    make: inWrites(({ channels }) => ({
      channels: {
        ...channels,
        insert: (rows) =>
          skipKnown(
            rows,
            ({ id }) => channels.find({ ids: [id] }),
            channels.insert,
          ),
      },
    })),
    fails: [refuses],
  },
  {
    defect: 'versions of channels are not looked at',
    make: inWrites(({ channels }) => ({
      channels: {
        ...channels,
        update: (rows) =>
          overwrite(
            rows,
            ({ id }) => channels.find({ ids: [id] }),
            channels.update,
          ),
      },
    })),
    fails: [refuses],
  },
  {
    defect: 'channels are found in any order',
    make: inFinds(({ channels }) => ({
      channels: mapRows(channels, (rows) => rows.reverse()),
    })),
    fails: [byIds, lists, findsDue, watches, sealed],
  },
  {
    defect: 'one channel too few is found',
    make: inFinds(({ channels }) => ({
      channels: mapRows(channels, (rows, query) =>
        'limit' in query && rows.length === query.limit
          ? rows.slice(0, -1)
          : rows,
      ),
    })),
    fails: [lists, findsDue, watches],
  },
  {
    defect: 'channels without a balance are watched',
    make: inFinds(({ channels }) => ({
      channels: {
        find: (query) =>
          'watched' in query
            ? channels
                .find({ listed: query.watched, limit: query.limit })
                .then((rows) => rows.reverse())
            : channels.find(query),
      },
    })),
    fails: [watches],
  },
  {
    defect: 'vouchers of the current key are encrypted again, too',
    make: inFinds(({ channels }) => ({
      channels: {
        find: (query) =>
          channels.find('sealed' in query ? { ...query, except: '' } : query),
      },
    })),
    fails: [sealed],
  },
]
