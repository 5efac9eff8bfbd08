import { signCancellation } from 'countersign'
import { developmentChainId } from '../api/chain.js'
import { type KeepTryingParameters, keepTrying } from '../api/keepTrying.js'
import {
  type BuyerOrder,
  type OrderAccess,
  openBuyer,
} from '../api/openBuyer.js'
import { terms } from '../api/terms.js'
import type { Connection } from './connection.js'

export type CancelPaymentParameters = KeepTryingParameters & {
  access: OrderAccess
  connection: Connection
}

/** Has the wallet sign the end of a payment; the shop sends it. */
export async function cancelPayment(
  parameters: CancelPaymentParameters,
): Promise<BuyerOrder> {
  const { access, connection } = parameters
  const { provider, account } = connection
  const buyer = openBuyer(access)
  const { signal } = parameters
  const cancellation = await keepTrying(
    () => buyer.cancellationToSign({ signal }),
    parameters,
  )
  const signed = await signCancellation(
    { request: (args) => provider.request(args), account },
    {
      cancellation,
      // Not from the terms: no public chain is ever signed for.
      expect: { chainId: developmentChainId, token: terms.token },
    },
  )
  const { order } = await keepTrying(
    () => buyer.sendCancellation(signed, { signal }),
    parameters,
  )
  return order
}
