import {
  authorizationCall,
  authorizationLogs,
  endOfAuthorization,
} from '../chain/state/getPaymentOutcome.js'
import { drawNonce } from '../core/drawNonce.js'
import { hashChecked } from '../core/hashPayment.js'
import type { PaymentKind, StoredFields } from '../payments/kind.js'
import { encodeCheckoutCapture } from './checkoutCall.js'
import { checkoutAddress } from './checkoutContracts.js'
import { hashTerms, parseTerms } from './parseCheckoutPayment.js'
import { proveCheckout } from './proveCheckout.js'
import { checkoutSigning, type PageKind } from './signingKinds.js'
import type { CheckoutPayment } from './types.js'

/**
 * The kind of checkout payments: pass it as `kind` to `signPayment`,
 * `verifyPayment`, `capturePayment`, `waitForOutcome` and similar functions.
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
export const checkout: PaymentKind = /* @__PURE__ */ Object.assign(
  {
    name: 'checkout',
    hash: (payment: CheckoutPayment) => hashChecked(payment),
    encodeCapture: encodeCheckoutCapture,
    spentCall: authorizationCall,
    spentLogs: authorizationLogs,
    prove: proveCheckout,
    end: endOfAuthorization,
    drawTerms: ({ operator }) => ({ operator, salt: drawNonce() }),
    build: buildStored,
  } satisfies Omit<PaymentKind, keyof PageKind>,
  checkoutSigning,
)

function buildStored(fields: StoredFields): CheckoutPayment {
  const { domain, payer, recipient, value, terms } = fields
  const { validAfter, validBefore, nonce } = fields
  const checkout = parseTerms({ ...terms, recipient })
  const message = {
    from: payer,
    to: checkoutAddress,
    value,
    validAfter,
    validBefore,
    nonce,
  }
  const primaryType = 'ReceiveWithAuthorization'
  const unbound = { primaryType, domain, message, checkout } as const
  return { ...unbound, message: { ...message, nonce: hashTerms(unbound) } }
}
