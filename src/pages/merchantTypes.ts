import type { PaymentHandlerParameters } from '../http/types.js'

/** Parameters of the merchant's pages. */
export type MerchantPagesParameters = Pick<
  PaymentHandlerParameters,
  'authorize' | 'origins' | 'subscriptions'
> & {
  /**
   * Lets the pages capture, void, refund and reconcile, and replay webhooks.
   * Without it every request that could change something gets a 403.
   * @default false
   */
  write?: boolean | undefined
}
