import type { BuyerState } from '../../client/BuyerClient.js'
import type { FailureReason } from './pageData.js'

/** How an order can end unpaid. */
type UnpaidState = Extract<
  BuyerState['state'],
  'voided' | 'canceled' | 'expired' | 'consumed'
>

/** Details of the events of a payment, by name. */
export type PaymentEvents = {
  /** The wallet signed; the shop does not have it yet. */
  signed: { orderId: string }
  /** The shop has the signed payment. */
  stored: { orderId: string; order: BuyerState }
  /** The order is paid; its `transaction` says how final that is. */
  captured: { orderId: string; order: BuyerState }
  /** An attempt to pay or to cancel failed, or the order ended unpaid. */
  failed: {
    orderId: string
    reason: FailureReason | UnpaidState | 'notFound' | 'wrongAddress'
    /** The texts that the buyer reads. */
    title: string
    text: string
  }
}

/** Called for each event. */
export type OnPaymentEvent = <type extends keyof PaymentEvents>(
  type: type,
  detail: PaymentEvents[type],
) => void

type Words = { title: string; text: string }

/** Reports what happens to an order, each state once per attempt. */
export type Reporter = {
  signed(): void
  see(order: BuyerState, words: Words): void
  fail(reason: PaymentEvents['failed']['reason'], words: Words): void
}

export function createReporter(
  orderId: string,
  onEvent: OnPaymentEvent,
): Reporter {
  const told = new Set<string>()
  const once = (name: string, tell: () => void): void => {
    if (told.has(name)) return
    told.add(name)
    tell()
  }
  const fail: Reporter['fail'] = (reason, { title, text }) =>
    onEvent('failed', { orderId, reason, title, text })
  return {
    signed: () => onEvent('signed', { orderId }),
    see: (order, words) => {
      switch (order.state) {
        case 'drafted':
          return told.clear()
        case 'captured':
          once('stored', () => onEvent('stored', { orderId, order }))
          return once('captured', () => onEvent('captured', { orderId, order }))
        case 'stored':
        case 'capturing':
          return once('stored', () => onEvent('stored', { orderId, order }))
        case 'voided':
        case 'canceled':
        case 'expired':
        case 'consumed': {
          const { state } = order
          return once(state, () => fail(state, words))
        }
      }
    },
    fail,
  }
}
