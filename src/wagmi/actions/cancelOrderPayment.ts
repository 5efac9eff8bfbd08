import type { Config } from '@wagmi/core'
import type { AbortOptions, BuyerClient } from '../../client/BuyerClient.js'
import {
  type CreateBuyerClientParameters,
  createBuyerClient,
} from '../../client/createBuyerClient.js'
import type { SignCancellationExpectation } from '../../payments/sign/signCancellation.js'
import { type ConnectedWallet, openWallet } from './signOrderPayment.js'

/** Parameters of the action `cancelPayment`. */
export type CancelOrderPaymentParameters = CreateBuyerClientParameters &
  AbortOptions &
  ConnectedWallet & {
    /**
     * What the buyer agreed to cancel. Take these values from the page, never
     * from the server.
     */
    expect: SignCancellationExpectation
  }

/** The order, and the `call` to send if the shop does not send it. */
export type CanceledOrder = Awaited<ReturnType<BuyerClient['cancel']>>

/**
 * Has the connected wallet sign the cancellation of a payment, and hands it to
 * the shop, as `cancel` of a buyer's client does. If the answer has a `call`,
 * the shop does not send it: send it with wagmi's `sendTransaction`.
 *
 * @throws {@link ProblemError} {@link ServerError} {@link UnexpectedPaymentError}
 * {@link WrongWalletError} {@link SigningDeclinedError} {@link WalletError}
 * {@link InvalidFieldError} as `cancel` does.
 * @throws wagmi's `ConnectorNotConnectedError` when no wallet is connected.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { cancelPayment } from 'countersign/wagmi'
 * import type { Config } from '@wagmi/core'
 *
 * export const cancel = (config: Config, orderId: string, buyerToken: string) =>
 *   cancelPayment(config, {
 *     url: '/payments',
 *     orderId,
 *     buyerToken,
 *     expect: {
 *       chainId: 8453,
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *     },
 *   })
 * ```
 */
export async function cancelOrderPayment(
  config: Config,
  parameters: CancelOrderPaymentParameters,
): Promise<CanceledOrder> {
  const { expect, signal, account, connector, ...connection } = parameters
  const buyer = createBuyerClient(connection)
  const wallet = await openWallet(config, { account, connector })
  return buyer.cancel(wallet, { expect, signal })
}
