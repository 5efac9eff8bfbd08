import type { OrderPoint } from './pointOf.js'

export type OrderWords = { title: string; text: string }

/** How an order stands, for its buyer. */
export const orderWords: Readonly<Record<OrderPoint, OrderWords>> = {
  drafted: {
    title: 'Authorize your payment',
    text: 'You sign now; the shop can charge exactly this amount, once. Signing costs no gas and moves no money.',
  },
  signed: {
    title: 'Sending your payment to the shop',
    text: 'You signed. The shop is checking your signature.',
  },
  stored: {
    title: 'Payment authorized',
    text: 'The shop has your signed payment. No money has moved yet.',
  },
  capturing: {
    title: 'The shop is charging you',
    text: 'The shop has sent the payment to the network.',
  },
  preconfirmed: {
    title: 'Seen by the network',
    text: 'The network has put the payment into its next block. It can still be dropped, which is rare.',
  },
  included: {
    title: 'Paid',
    text: 'The payment is in a block and becomes final soon.',
  },
  safe: {
    title: 'Paid',
    text: 'The payment is very unlikely to be reversed now. It becomes final soon.',
  },
  finalized: {
    title: 'Paid, and final',
    text: 'The payment cannot be reversed. Thank you.',
  },
  canceling: {
    title: 'Your cancellation is on its way',
    text: 'The shop sent your cancellation to the network. Once it is in a block, you can never be charged for this payment.',
  },
  canceled: {
    title: 'Canceled',
    text: 'This payment is canceled on the chain. No money moved, and you can never be charged for it.',
  },
  voided: {
    title: 'The shop closed this order',
    text: 'The shop will not charge you. Your signature stays valid until it expires. Cancel the payment to end it now.',
  },
  expired: {
    title: 'This order has expired',
    text: 'The shop did not charge you in time. No money moved, and you can never be charged for it.',
  },
  consumed: {
    title: 'Please contact the shop',
    text: 'You cannot be charged for this payment any more: its nonce was used for something else on the chain.',
  },
}

/** For an order whose total is known later. */
export const ceilingToSign: OrderWords = {
  title: 'Authorize your payment',
  text: 'You sign a maximum now. The shop can charge up to this amount, once, and never more. Signing costs no gas and moves no money.',
}

/** For an order that ended before anybody signed. */
export const neverSigned: OrderWords = {
  title: 'This order has expired',
  text: 'You did not sign the payment in time. No money moved.',
}
