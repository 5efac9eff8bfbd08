import {
  authorizationCall,
  authorizationLogs,
  endOfAuthorization,
} from '../chain/state/getPaymentOutcome.js'
import { hashChecked } from '../core/hashPayment.js'
import { addTypes } from '../payments/message/paymentTypedData.js'
import type { PaymentKind } from '../payments/verify/kind.js'
import { encodeCheckoutCapture } from './checkoutCall.js'
import { parseCheckoutPayment } from './parseCheckoutPayment.js'
import { proveCheckout } from './proveCheckout.js'
import type { CheckoutPayment } from './types.js'

/**
 * The kind of checkout payments: pass it as `kind` to `signPayment`,
 * `verifyPayment`, `capturePayment`, `waitForOutcome` and their like.
 *
 * @example
 * ```ts
 * import { verifyPayment } from 'countersign'
 * import { checkout, type SignedCheckoutPayment } from 'countersign/checkout'
 * import type { PublicClient } from 'viem'
 *
 * const verify = (client: PublicClient, payment: SignedCheckoutPayment) =>
 *   verifyPayment(client, {
 *     payment,
 *     kind: checkout,
 *     expect: {
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       atMost: '50.00',
 *     },
 *   })
 * ```
 */
export const checkout: PaymentKind = {
  total: 'atMost',
  primaryType: 'ReceiveWithAuthorization',
  expected: { atMost: true, operator: true },
  parse: parseCheckoutPayment,
  accounts: ({ checkout }: CheckoutPayment) => checkout,
  typedData: (payment: CheckoutPayment) => addTypes(payment),
  hash: (payment: CheckoutPayment) => hashChecked(payment),
  encodeCapture: encodeCheckoutCapture,
  spentCall: authorizationCall,
  spentLogs: authorizationLogs,
  prove: proveCheckout,
  end: endOfAuthorization,
}
