import type { OrderPoint } from './pointOf.js'

export type OrderWords = { title: string; text: string }

/** How an order stands, for its buyer. */
export const orderWords: Readonly<Record<OrderPoint, OrderWords>> = {
  drafted: {
    title: 'Authorize your payment',
    text: 'You sign now; the shop can charge exactly this amount, once. Signing costs no gas and moves no money.',
  },
  signed: {
    title: 'Handing it to the shop',
    text: 'You signed. The shop checks the payment with the token and keeps it.',
  },
  stored: {
    title: 'Payment authorized',
    text: 'The shop checked your signed payment and keeps it. No money has moved yet.',
  },
  capturing: {
    title: 'The shop collects the payment',
    text: 'The transaction is on its way to the chain.',
  },
  preconfirmed: {
    title: 'Pre-confirmed',
    text: 'The network has put the payment into its next block. It can still be dropped, which is rare.',
  },
  included: {
    title: 'Paid',
    text: 'The payment is in a block. The chain is making it final.',
  },
  safe: {
    title: 'Paid',
    text: 'The payment is in a safe block. It will be final in a moment.',
  },
  finalized: {
    title: 'Paid, and final',
    text: 'The chain proves the payment for good. Thank you.',
  },
  canceling: {
    title: 'Your cancellation is on its way',
    text: 'The shop sent it to the chain. Once it is in a block, the payment can never be collected.',
  },
  canceled: {
    title: 'Canceled',
    text: 'The chain has ended this payment. No money moved, and none can.',
  },
  voided: {
    title: 'The shop gave this order up',
    text: 'It will not collect the payment. To be sure that nobody can, cancel it, or wait until its time is over.',
  },
  expired: {
    title: 'The time is over',
    text: 'The payment was not collected in time. No money moved, and none can.',
  },
  consumed: {
    title: 'This needs a look',
    text: 'This payment can no longer be collected: the chain shows its number as used for something else. Ask the shop.',
  },
}

/** For an order that ended before anybody signed. */
export const neverSigned: OrderWords = {
  title: 'The time is over',
  text: 'The payment was not signed in time, so there is nothing to collect.',
}
