import { signCancellation } from 'countersign'
import { developmentChainId } from '../api/chain.js'
import { type KeepTryingParameters, keepTrying } from '../api/keepTrying.js'
import {
  type BuyerOrder,
  getCancellation,
  type OrderAccess,
  postCancellation,
} from '../api/payments.js'
import type { ShopConfig } from '../api/shop.js'
import type { Connection } from './connection.js'

export type CancelPaymentParameters = KeepTryingParameters & {
  access: OrderAccess
  connection: Connection
  config: ShopConfig
}

/** Has the wallet sign the end of a payment; the shop sends it. */
export async function cancelPayment(
  parameters: CancelPaymentParameters,
): Promise<BuyerOrder> {
  const { access, connection, config } = parameters
  const { provider, account } = connection
  const cancellation = await keepTrying(
    () => getCancellation(access),
    parameters,
  )
  const signed = await signCancellation(
    { request: (args) => provider.request(args), account },
    {
      cancellation,
      // Not from the configuration: no public chain is ever signed for.
      expect: { chainId: developmentChainId, token: config.token },
    },
  )
  return keepTrying(() => postCancellation(access, signed), parameters)
}
