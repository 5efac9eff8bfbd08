import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { type Config, useConfig } from 'wagmi'
import type {
  CanceledOrder,
  CancelOrderPaymentParameters,
} from '../actions/cancelOrderPayment.js'
import {
  type CancelPaymentOptions,
  cancelPaymentMutationOptions,
} from '../query/mutationOptions.js'

/** Parameters of {@link useCancelPayment}. */
export type UseCancelPaymentParameters<context = unknown> =
  CancelPaymentOptions<context> & {
    /** @default that of the `WagmiProvider` */
    config?: Config | undefined
  }

/**
 * A mutation that has the connected wallet sign the cancellation of a payment,
 * and hands it to the shop: `mutate` takes the parameters of the action.
 *
 * @throws wagmi's `WagmiProviderNotFoundError` outside a `WagmiProvider`, without
 * `config`.
 *
 * @example
 * ```ts
 * import { useCancelPayment } from 'countersign/wagmi'
 *
 * export function useUndo(orderId: string, buyerToken: string) {
 *   const { mutate } = useCancelPayment()
 *   return () =>
 *     mutate({
 *       url: '/payments',
 *       orderId,
 *       buyerToken,
 *       expect: {
 *         chainId: 8453,
 *         token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       },
 *     })
 * }
 * ```
 */
export function useCancelPayment<context = unknown>(
  parameters: UseCancelPaymentParameters<context> = {},
): UseMutationResult<
  CanceledOrder,
  Error,
  CancelOrderPaymentParameters,
  context
> {
  const { config: given, ...options } = parameters
  const config = useConfig(given ? { config: given } : {})
  return useMutation(cancelPaymentMutationOptions(config, options))
}
