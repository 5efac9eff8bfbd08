import type { Config } from '@wagmi/core'
import type { AbortOptions, BuyerState } from '../../client/BuyerClient.js'
import {
  type CreateBuyerClientParameters,
  createBuyerClient,
} from '../../client/createBuyerClient.js'

/** Parameters of the action `getOrder`. */
export type GetBuyerOrderParameters = CreateBuyerClientParameters & AbortOptions

/**
 * Reads an order as its buyer sees it. Uses no wallet: it takes wagmi's
 * configuration only to be called like the other actions.
 *
 * @throws {@link ProblemError} when the server refuses it.
 * @throws {@link ServerError} when the server gives no answer.
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { getOrder } from 'countersign/wagmi'
 * import type { Config } from '@wagmi/core'
 *
 * export async function stateOf(config: Config, orderId: string, buyerToken: string) {
 *   const { state } = await getOrder(config, { url: '/payments', orderId, buyerToken })
 *   return state
 * }
 * ```
 */
export async function getBuyerOrder(
  _config: Config,
  { signal, ...connection }: GetBuyerOrderParameters,
): Promise<BuyerState> {
  return createBuyerClient(connection).get({ signal })
}
