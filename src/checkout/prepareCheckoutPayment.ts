import type { Client } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { parseCheckedAddress } from '../core/parseCheckedAddress.js'
import {
  type PreparePaymentParameters,
  preparePayment,
} from '../payments/message/preparePayment.js'
import {
  type CheckoutFields,
  emptyNonce,
  withTerms,
} from './buildCheckoutPayment.js'
import { checkoutAddress } from './checkoutContracts.js'
import type { CheckoutPayment } from './types.js'

/** Token, accounts, ceiling and window for {@link prepareCheckoutPayment}. */
export type PrepareCheckoutPaymentParameters = CheckoutFields &
  Omit<PreparePaymentParameters, 'to' | 'amount' | 'nonce' | 'primaryType'>

/**
 * Builds a checkout payment with the domain and decimals of the token and the
 * time of the chain, in one request.
 *
 * Nothing is reserved: the payer can still move the funds before capture. Does
 * not check whether the checkout contract is deployed: `verifyPayment` does.
 *
 * @throws as `preparePayment`.
 *
 * @example
 * ```ts
 * import { prepareCheckoutPayment } from 'countersign/checkout'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 * const payment = await prepareCheckoutPayment(client, {
 *   token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *   atMost: '50.00',
 * })
 * ```
 */
export async function prepareCheckoutPayment(
  client: Client,
  parameters: PrepareCheckoutPaymentParameters,
): Promise<CheckoutPayment> {
  checkMembers(parameters, [
    'token',
    'from',
    'to',
    'atMost',
    'operator',
    'salt',
    'now',
    'validAfter',
    'validBefore',
  ])
  const { to, atMost, operator, salt, ...fields }: typeof parameters =
    Object(parameters)
  parseCheckedAddress(to, 'to')
  if (operator !== undefined) parseCheckedAddress(operator, 'operator')
  const unbound = await preparePayment(client, {
    ...fields,
    to: checkoutAddress,
    amount: atMost,
    nonce: emptyNonce,
  })
  return withTerms(unbound, { to, operator, salt })
}
