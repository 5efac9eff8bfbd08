import { type UseMutationResult, useMutation } from '@tanstack/react-query'
import { type Config, useConfig } from 'wagmi'
import type { BuyerState } from '../../client/BuyerClient.js'
import type { SignOrderPaymentParameters } from '../actions/signOrderPayment.js'
import {
  type SignPaymentOptions,
  signPaymentMutationOptions,
} from '../query/mutationOptions.js'

/** Parameters of {@link useSignPayment}. */
export type UseSignPaymentParameters<context = unknown> =
  SignPaymentOptions<context> & {
    /** @default that of the `WagmiProvider` */
    config?: Config | undefined
  }

/**
 * A mutation that has the connected wallet sign the payment of an order, and
 * hands it to the shop: `mutate` takes the parameters of the action.
 *
 * @throws wagmi's `WagmiProviderNotFoundError` outside a `WagmiProvider`, without
 * `config`.
 *
 * @example
 * ```ts
 * import { useSignPayment } from 'countersign/wagmi'
 *
 * export function usePay(orderId: string, buyerToken: string) {
 *   const { mutate } = useSignPayment()
 *   return () =>
 *     mutate({
 *       url: '/payments',
 *       orderId,
 *       buyerToken,
 *       expect: {
 *         chainId: 8453,
 *         token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *         to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *         amount: '12.50',
 *       },
 *     })
 * }
 * ```
 */
export function useSignPayment<context = unknown>(
  parameters: UseSignPaymentParameters<context> = {},
): UseMutationResult<BuyerState, Error, SignOrderPaymentParameters, context> {
  const { config: given, ...options } = parameters
  const config = useConfig(given ? { config: given } : {})
  return useMutation(signPaymentMutationOptions(config, options))
}
