import type { PaymentKind } from '../payments/kind.js'
import type { SigningKind } from '../payments/message/kind.js'
import { addTypes } from '../payments/message/paymentTypedData.js'
import { decodeCheckoutPayment, decodePermitPayment } from './codec.js'
import { parseCheckoutPayment } from './parseCheckoutPayment.js'
import {
  parsePermitPayment,
  permitMessage,
  permitTypedData,
} from './parsePermitPayment.js'
import type { CheckoutPayment, PermitPayment } from './types.js'

/**
 * The part of a kind that a page needs: decoding and signing, without a node.
 */
export type PageKind = SigningKind & Pick<PaymentKind, 'decode'>

export const checkoutSigning: PageKind = {
  total: 'atMost',
  primaryType: 'ReceiveWithAuthorization',
  parse: parseCheckoutPayment,
  accounts: ({ checkout }: CheckoutPayment) => checkout,
  typedData: (payment: CheckoutPayment) => addTypes(payment),
  decode: decodeCheckoutPayment,
}

export const permitSigning: PageKind = {
  total: 'atMost',
  primaryType: 'Permit',
  parse: parsePermitPayment,
  accounts: ({ checkout }: PermitPayment) => checkout,
  typedData: (payment: PermitPayment) =>
    permitTypedData(payment, permitMessage(payment)),
  decode: decodePermitPayment,
}
