import { type Config, type Connector, getConnectorClient } from '@wagmi/core'
import type { Address } from 'viem'
import type { BuyerState, PaymentOptions } from '../../client/BuyerClient.js'
import {
  type CreateBuyerClientParameters,
  createBuyerClient,
} from '../../client/createBuyerClient.js'
import type {
  SignCeilingExpectation,
  SignPaymentExpectation,
} from '../../payments/sign/signPayment.js'

/** The wallet that signs. */
export type ConnectedWallet = {
  /** @default the account that the connector shows first */
  account?: Address | undefined
  /** @default the current connector */
  connector?: Connector | undefined
}

/** Parameters of the action `signPayment`. */
export type SignOrderPaymentParameters = CreateBuyerClientParameters &
  PaymentOptions &
  ConnectedWallet & {
    /**
     * What the buyer agreed to. Take these values from the page, never from the
     * server that drafted the payment.
     */
    expect: SignPaymentExpectation | SignCeilingExpectation
  }

/**
 * Has the connected wallet sign the payment of an order, and hands it to the
 * shop, as `pay` of a buyer's client does. No money has moved then: the shop
 * captures later.
 *
 * @throws {@link ProblemError} {@link ServerError} {@link UnexpectedPaymentError}
 * {@link SigningDeclinedError} {@link WalletError} {@link InvalidFieldError}
 * {@link InvalidAmountError} as `pay` does.
 * @throws {@link WrongWalletError} when the wallet is on another chain than the
 * payment: call wagmi's `switchChain` first.
 * @throws wagmi's `ConnectorNotConnectedError` when no wallet is connected.
 * @throws the reason of `signal` when that aborts.
 *
 * @example
 * ```ts
 * import { signPayment } from 'countersign/wagmi'
 * import type { Config } from '@wagmi/core'
 *
 * export const pay = (config: Config, orderId: string, buyerToken: string) =>
 *   signPayment(config, {
 *     url: '/payments',
 *     orderId,
 *     buyerToken,
 *     expect: {
 *       chainId: 8453,
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       amount: '12.50',
 *     },
 *   })
 * ```
 */
export async function signOrderPayment(
  config: Config,
  parameters: SignOrderPaymentParameters,
): Promise<BuyerState> {
  const { expect, kind, signal, account, connector, ...connection } = parameters
  const buyer = createBuyerClient(connection)
  const wallet = await openWallet(config, { account, connector })
  return buyer.pay(wallet, { expect, kind, signal })
}

/**
 * Returns the client of the connected wallet, on whatever chain the wallet is:
 * `signPayment` checks the chain itself.
 */
export function openWallet(
  config: Config,
  wallet: ConnectedWallet,
): ReturnType<typeof getConnectorClient> {
  return getConnectorClient(config, { ...wallet, assertChainId: false })
}
