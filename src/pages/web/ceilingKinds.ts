import { checkout } from '../../checkout/checkout.js'
import { permitCheckout } from '../../checkout/permitCheckout.js'
import type { ClientKind } from '../../client/BuyerClient.js'

export const ceiling: ClientKind = checkout
export const permit: ClientKind = permitCheckout
