import { signCancellation, UnexpectedPaymentError } from 'countersign'
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
  const { chainId, verifyingContract } = cancellation.domain
  if (chainId !== developmentChainId)
    throw new UnexpectedPaymentError('chainId', chainId, developmentChainId)
  if (verifyingContract !== config.token)
    throw new UnexpectedPaymentError('token', verifyingContract, config.token)
  const signed = await signCancellation(
    { request: (args) => provider.request(args), account },
    { cancellation },
  )
  return keepTrying(() => postCancellation(access, signed), parameters)
}
