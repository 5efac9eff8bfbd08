import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import { type Config, useConfig } from 'wagmi'
import type { BuyerState } from '../../client/BuyerClient.js'
import {
  type GetOrderOptions,
  getOrderQueryOptions,
} from '../query/getOrderQueryOptions.js'

/** Parameters of {@link useOrder}. */
export type UseOrderParameters<selectData = BuyerState> =
  GetOrderOptions<selectData> & {
    /** @default that of the `WagmiProvider` */
    config?: Config | undefined
  }

/**
 * Follows an order, until all that the chain shows of it is final. Components
 * that follow the same order share its requests.
 *
 * @throws wagmi's `WagmiProviderNotFoundError` outside a `WagmiProvider`, without
 * `config`.
 *
 * @example
 * ```ts
 * import { useOrder } from 'countersign/wagmi'
 *
 * export function useIsPaid(orderId: string, buyerToken: string) {
 *   const { data } = useOrder({ url: '/payments', orderId, buyerToken })
 *   return data?.state === 'captured'
 * }
 * ```
 */
export function useOrder<selectData = BuyerState>(
  parameters: UseOrderParameters<selectData> = {},
): UseQueryResult<selectData, Error> {
  const { config: given, ...options } = parameters
  const config = useConfig(given ? { config: given } : {})
  return useQuery(getOrderQueryOptions(config, options))
}
