import type { Query, QueryObserverOptions } from '@tanstack/query-core'
import type { Config } from '@wagmi/core'
import type { BuyerState } from '../../client/BuyerClient.js'
import type { CreateBuyerClientParameters } from '../../client/createBuyerClient.js'
import { ProblemError } from '../../client/errors.js'
import { isSettled } from '../../client/isSettled.js'
import { getBuyerOrder } from '../actions/getBuyerOrder.js'

/**
 * Options of the query of an order. The query waits until `url`, `orderId` and
 * `buyerToken` are set.
 */
export type GetOrderOptions<selectData = BuyerState> = {
  [name in keyof CreateBuyerClientParameters]?:
    | CreateBuyerClientParameters[name]
    | undefined
} & {
  /** Keeps a separate cache entry for the same order, as in wagmi. */
  scopeKey?: string | undefined
  /** Options of the query itself. */
  query?:
    | (Omit<
        GetOrderQueryOptions<selectData>,
        'queryKey' | 'queryFn' | 'enabled'
      > & { enabled?: boolean | undefined })
    | undefined
}

/**
 * Identifies an order in the cache. Does not contain the buyer's token, because
 * developer tools show caches, and apps often store them.
 */
export type GetOrderQueryKey = readonly [
  'order',
  {
    url: string | undefined
    orderId: string | undefined
    scopeKey: string | undefined
  },
]

/** Options of a TanStack query. */
export type GetOrderQueryOptions<selectData = BuyerState> = Omit<
  QueryObserverOptions<
    BuyerState,
    Error,
    selectData,
    BuyerState,
    GetOrderQueryKey
  >,
  'queryKey' | 'queryFn'
> & {
  queryKey: GetOrderQueryKey
  /** Reads the order. */
  queryFn: (context: { signal: AbortSignal }) => Promise<BuyerState>
}

/**
 * Returns the key of an order in the cache, to read, set or invalidate it.
 *
 * @example
 * ```ts
 * import type { QueryClient } from '@tanstack/query-core'
 * import { getOrderQueryKey } from 'countersign/wagmi'
 *
 * export const refresh = (queries: QueryClient, orderId: string) =>
 *   queries.invalidateQueries({
 *     queryKey: getOrderQueryKey({ url: '/payments', orderId }),
 *   })
 * ```
 */
export function getOrderQueryKey({
  url,
  orderId,
  scopeKey,
}: Pick<GetOrderOptions, 'url' | 'orderId' | 'scopeKey'>): GetOrderQueryKey {
  return ['order', { url, orderId, scopeKey }]
}

/**
 * Returns the options of a query that reads an order again and again, until all
 * that the chain shows of it is final: every 2 seconds, and every 10 once it is
 * paid. Set `query.refetchInterval` for another pace.
 *
 * @example
 * ```ts
 * import { QueryObserver, type QueryClient } from '@tanstack/query-core'
 * import type { Config } from '@wagmi/core'
 * import { getOrderQueryOptions } from 'countersign/wagmi'
 *
 * export function follow(
 *   queries: QueryClient,
 *   config: Config,
 *   order: { orderId: string; buyerToken: string },
 * ) {
 *   const options = getOrderQueryOptions(config, { url: '/payments', ...order })
 *   return new QueryObserver(queries, options).subscribe(({ data }) => {
 *     console.log(data?.state)
 *   })
 * }
 * ```
 */
export function getOrderQueryOptions<selectData = BuyerState>(
  config: Config,
  options: GetOrderOptions<selectData> = {},
): GetOrderQueryOptions<selectData> {
  const { query, scopeKey, url, orderId, buyerToken, ...rest } = options
  const isKnown = Boolean(url && orderId && buyerToken)
  return {
    refetchInterval,
    ...query,
    enabled: isKnown && (query?.enabled ?? true),
    queryFn: ({ signal }) => {
      if (!url || !orderId || !buyerToken)
        throw new Error('url, orderId and buyerToken are required')
      return getBuyerOrder(config, {
        url,
        orderId,
        buyerToken,
        ...rest,
        signal,
      })
    },
    queryKey: getOrderQueryKey({ url, orderId, scopeKey }),
  }
}

type OrderQuery = Query<BuyerState, Error, BuyerState, GetOrderQueryKey>

/** Milliseconds until the order is read again. */
function refetchInterval({ state }: Pick<OrderQuery, 'state'>): number | false {
  const { data, error } = state
  // Other errors may pass. An order that is not found now is never found.
  if (error instanceof ProblemError && error.status === 404) return false
  if (!data) return 2_000
  if (isSettled(data)) return false
  return data.state === 'captured' || data.state === 'canceled' ? 10_000 : 2_000
}
