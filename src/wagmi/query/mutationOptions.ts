import type { MutationOptions } from '@tanstack/query-core'
import type { Config } from '@wagmi/core'
import type { BuyerState } from '../../client/BuyerClient.js'
import {
  type CanceledOrder,
  type CancelOrderPaymentParameters,
  cancelOrderPayment,
} from '../actions/cancelOrderPayment.js'
import {
  type SignOrderPaymentParameters,
  signOrderPayment,
} from '../actions/signOrderPayment.js'

type Options<data, variables, context> = {
  /** Options of the mutation itself. */
  mutation?:
    | Omit<
        MutationOptions<data, Error, variables, context>,
        'mutationFn' | 'mutationKey'
      >
    | undefined
}

/** Options of {@link signPaymentMutationOptions}. */
export type SignPaymentOptions<context = unknown> = Options<
  BuyerState,
  SignOrderPaymentParameters,
  context
>

/** Options of {@link cancelPaymentMutationOptions}. */
export type CancelPaymentOptions<context = unknown> = Options<
  CanceledOrder,
  CancelOrderPaymentParameters,
  context
>

/**
 * Returns the options of a mutation that signs the payment of an order and hands
 * it to the shop. Its variables are the parameters of the action.
 *
 * @example
 * ```ts
 * import { MutationObserver, type QueryClient } from '@tanstack/query-core'
 * import type { Config } from '@wagmi/core'
 * import { signPaymentMutationOptions } from 'countersign/wagmi'
 *
 * export const openPaying = (queries: QueryClient, config: Config) =>
 *   new MutationObserver(queries, signPaymentMutationOptions(config))
 * ```
 */
export function signPaymentMutationOptions<context = unknown>(
  config: Config,
  { mutation }: SignPaymentOptions<context> = {},
): MutationOptions<BuyerState, Error, SignOrderPaymentParameters, context> {
  return {
    ...mutation,
    mutationFn: (variables) => signOrderPayment(config, variables),
    mutationKey: ['signPayment'],
  }
}

/**
 * Returns the options of a mutation that signs the cancellation of a payment and
 * hands it to the shop. Its variables are the parameters of the action.
 *
 * @example
 * ```ts
 * import { MutationObserver, type QueryClient } from '@tanstack/query-core'
 * import type { Config } from '@wagmi/core'
 * import { cancelPaymentMutationOptions } from 'countersign/wagmi'
 *
 * export const openCanceling = (queries: QueryClient, config: Config) =>
 *   new MutationObserver(queries, cancelPaymentMutationOptions(config))
 * ```
 */
export function cancelPaymentMutationOptions<context = unknown>(
  config: Config,
  { mutation }: CancelPaymentOptions<context> = {},
): MutationOptions<
  CanceledOrder,
  Error,
  CancelOrderPaymentParameters,
  context
> {
  return {
    ...mutation,
    mutationFn: (variables) => cancelOrderPayment(config, variables),
    mutationKey: ['cancelPayment'],
  }
}
