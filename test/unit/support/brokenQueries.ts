import type { OrderState } from 'countersign/store'
import {
  type BrokenStore,
  crossed,
  inFinds,
  mapRows,
  sortBy,
} from './spoilStore.js'

/** Stores whose queries find too much, too little or in another order. */
export const brokenQueries: readonly BrokenStore[] = [
  {
    defect: 'a transaction is found by the first of its orders only',
    make: inFinds(({ transactions, secrets }) => ({
      transactions: mapRows(transactions, (rows, query) =>
        'orderIds' in query
          ? rows.filter(({ movements: [first] }) =>
              query.orderIds.includes(first?.orderId ?? ''),
            )
          : rows,
      ),
      secrets: {
        ...secrets,
        findOrderIds: async (query) =>
          (await secrets.findOrderIds(query)).slice(1),
      },
    })),
    fails: [
      'a transaction that carries several orders is found by each of them, once',
      'the secret of a transaction counts for each order that it carries',
    ],
  },
  {
    defect: 'refunds are listed as orders',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: async (query) => {
          const rows = await orders.find(query)
          if (!('listed' in query)) return rows
          const refundsOf = rows.map(({ id }) => id)
          return [...rows, ...(await orders.find({ refundsOf }))]
        },
      },
    })),
    fails: ['refunds are neither listed nor counted as orders'],
  },
  {
    defect: 'refunds come the wrong way round',
    make: inFinds(({ orders }) => ({
      orders: mapRows(orders, (rows, query) =>
        'refundsOf' in query || 'refundsDue' in query ? rows.reverse() : rows,
      ),
    })),
    fails: [
      'refunds are found by their orders, oldest first',
      'refunds that wait to be signed come oldest first, a page after a position',
    ],
  },
  {
    defect: 'orders come the wrong way round',
    make: inFinds(({ orders }) => ({
      orders: mapRows(orders, (rows, query) =>
        'listed' in query || 'unsettled' in query ? rows.reverse() : rows,
      ),
    })),
    fails: [
      'orders are listed newest first, a page before a position',
      'unsettled orders come oldest first, a page after a position',
    ],
  },
  {
    defect: 'the oldest orders are the newest',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'oldest' in query
              ? { listed: [query.oldest], limit: query.limit }
              : query,
          ),
      },
    })),
    fails: ['the oldest orders come first, in any state'],
  },
  {
    defect: 'the payer is not looked at',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'listed' in query ? { ...query, payer: undefined } : query,
          ),
      },
    })),
    fails: ['orders are listed by states and by payer'],
  },
  {
    defect: 'what is due at the very time is left out',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'until' in query ? { ...query, until: query.until - 1n } : query,
          ),
      },
    })),
    fails: [
      'orders with something to send come by deadline, until a time and of some recipients',
      'orders that a worker must check come in the order of their due times, up to a given time',
    ],
  },
  {
    defect: 'the first block asked for is left out',
    make: inFinds(({ orders, proofs }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'settled' in query && query.fromBlock !== undefined
              ? { ...query, fromBlock: query.fromBlock + 1n }
              : query,
          ),
      },
      proofs: {
        ...proofs,
        find: (query) =>
          proofs.find(
            'fromBlock' in query && query.fromBlock !== undefined
              ? { ...query, fromBlock: query.fromBlock + 1n }
              : query,
          ),
      },
    })),
    fails: [
      'settled orders come by block, of one finality and between blocks',
      'proofs come in the order of the chain, from a block on',
    ],
  },
  {
    defect: 'a destination that is named twice counts twice',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        count: async (destinations) => {
          const counts: Awaited<ReturnType<typeof orders.count>> = {}
          for (const destination of destinations)
            for (const [state, count] of Object.entries(
              await orders.count([destination]),
            ))
              Object.assign(counts, {
                [state]: Number(Reflect.get(counts, state) ?? 0) + count,
              })
          return counts
        },
      },
    })),
    fails: ['orders are counted by state'],
  },
  {
    defect: 'orders that need a review are found with all others',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'needReview' in query ? { ids: query.needReview } : query,
          ),
      },
    })),
    fails: ['orders are found by their ids, each once'],
  },
  {
    defect: 'an early answer is found whatever its state is',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        findEarly: (query) =>
          orders.findEarly({
            ...query,
            early: ['reserved', 'answered', 'unpaid'],
          }),
      },
    })),
    fails: ['orders of a token are found by the state of their early answer'],
  },
  {
    defect: 'a count stays as it was first',
    make: () => {
      const first = new Map<string, Partial<Record<OrderState, number>>>()
      return inFinds(({ orders }) => ({
        orders: {
          ...orders,
          count: async (destinations) => {
            const key = JSON.stringify(destinations)
            const counts = first.get(key) ?? (await orders.count(destinations))
            first.set(key, counts)
            return counts
          },
        },
      }))()
    },
    fails: ['counts follow orders from state to state'],
  },
  ...[
    inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'listed' in query
              ? { ...query, listed: crossed(query.listed) }
              : query,
          ),
      },
    })),
    inFinds(({ orders }) => ({
      orders: {
        ...orders,
        count: (destinations) => orders.count(crossed(destinations)),
      },
    })),
    inFinds(({ proofs }) => ({
      proofs: {
        ...proofs,
        find: (query) =>
          proofs.find(
            'destinations' in query
              ? { ...query, destinations: crossed(query.destinations) }
              : query,
          ),
      },
    })),
    inFinds(({ events }) => ({
      events: {
        ...events,
        find: (query) =>
          events.find(
            'destinations' in query
              ? { ...query, destinations: crossed(query.destinations) }
              : query,
          ),
      },
    })),
  ].map((make, at) => ({
    defect: `parts of destinations are looked for one by one, way ${at + 1}`,
    make,
    fails: ['a query returns only rows of the destinations it was given'],
  })),
  {
    defect: 'only a hundred destinations are looked for',
    make: inFinds(({ orders }) => ({
      orders: {
        ...orders,
        find: (query) =>
          orders.find(
            'listed' in query
              ? { ...query, listed: query.listed.slice(0, 100) }
              : query,
          ),
      },
    })),
    fails: [
      'a query of hundreds of destinations finds the rows of all of them, in order',
    ],
  },
  {
    defect: 'attempts are looked for on every chain',
    make: inFinds(({ attempts }) => ({
      attempts: {
        ...attempts,
        find: async (query) => {
          if (!('exposure' in query)) return attempts.find(query)
          const chainId = query.exposure.chainId + 1
          const exposure = { ...query.exposure, chainId }
          return [
            ...(await attempts.find(query)),
            ...(await attempts.find({ exposure })),
          ]
        },
      },
    })),
    fails: ['the spendable attempts of a payer are found by chain and token'],
  },
  {
    defect: 'one attempt is found, whatever is asked for',
    make: inFinds(({ attempts }) => ({
      attempts: mapRows(attempts, (rows) => rows.slice(0, 1)),
    })),
    fails: ['attempts are found by their orders and by their nonces'],
  },
  {
    defect: 'hashes are looked for on every chain',
    make: inFinds(({ transactions, proofs }) => ({
      transactions: {
        ...transactions,
        find: async (query) => [
          ...(await transactions.find(query)),
          ...('hashes' in query
            ? await transactions.find({ ...query, chainId: query.chainId + 1 })
            : []),
        ],
      },
      proofs: {
        ...proofs,
        find: async (query) => [
          ...(await proofs.find(query)),
          ...('hashes' in query
            ? await proofs.find({ ...query, chainId: query.chainId + 1 })
            : []),
        ],
      },
    })),
    fails: [
      'transactions are found by their orders and by their hashes on a chain',
      'proofs are found by their orders and by their hashes on a chain',
    ],
  },
  {
    defect: 'numbers are put in order as text',
    make: inFinds(({ transactions, proofs }) => ({
      transactions: mapRows(transactions, (rows) =>
        sortBy(rows, ({ nonce }) => String(nonce)),
      ),
      proofs: mapRows(proofs, (rows) =>
        sortBy(rows, ({ blockNumber }) => String(blockNumber)),
      ),
    })),
    fails: [
      'transactions of a submitter in flight come in the order of their nonces',
      'the transactions of a submitter come from a nonce on, in pages',
      'proofs come in the order of the chain, from a block on',
    ],
  },
  {
    defect: 'what is not open is not found',
    make: inFinds(({ transactions }) => ({
      transactions: mapRows(transactions, (rows) =>
        rows.filter(({ inFlight }) => inFlight),
      ),
    })),
    fails: [
      'all transactions at one nonce of a submitter are found, in flight or not',
      'the transactions of a submitter come from a nonce on, in pages',
    ],
  },
]
