import { type BrokenStore, crossed, inFinds } from './spoilStore.js'

const counted =
  'secrets of orders are counted by the name in front of their first space'
const found =
  'orders with a secret of another key are found by id, each once, page by page'

/** Stores that take secrets for those of other keys or other orders. */
export const brokenSecrets: readonly BrokenStore[] = [
  {
    defect: 'secrets of other destinations count',
    make: inFinds(({ secrets }) => ({
      secrets: {
        countKeys: (destinations) => secrets.countKeys(crossed(destinations)),
        findOrderIds: (query) =>
          secrets.findOrderIds({
            ...query,
            destinations: crossed(query.destinations),
          }),
      },
    })),
    fails: [counted, found],
  },
  {
    defect: 'a destination that is named twice has twice the secrets',
    make: inFinds(({ secrets }) => ({
      secrets: {
        ...secrets,
        countKeys: async (destinations) => {
          const counts: Record<string, number> = {}
          for (const destination of destinations)
            for (const [key, count] of Object.entries(
              await secrets.countKeys([destination]),
            ))
              counts[key] = (counts[key] ?? 0) + count
          return counts
        },
      },
    })),
    fails: [counted],
  },
  {
    defect: 'orders are found whatever key their secrets have',
    make: inFinds(({ secrets }) => ({
      secrets: {
        ...secrets,
        findOrderIds: (query) => secrets.findOrderIds({ ...query, except: '' }),
      },
    })),
    fails: [found],
  },
  {
    defect: 'every page of orders with secrets is the first',
    make: inFinds(({ secrets }) => ({
      secrets: {
        ...secrets,
        findOrderIds: (query) =>
          secrets.findOrderIds({ ...query, after: undefined }),
      },
    })),
    fails: [found],
  },
]
