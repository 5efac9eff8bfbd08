import type { Payment } from '../../core/types.js'
import type { Refund, RefundFailure, RefundRefusal } from './refundTypes.js'
import type { Order } from './types.js'

/** Whether the refund is accepted and stored, or why not. */
export type RefundVerdict =
  | { ok: true; refund: Refund; order: Order }
  | { ok: false; reason: RefundRefusal; order: Order }

/** The payment of a refund to sign, or why there is none now. */
export type RefundToSignVerdict =
  | { ok: true; refund: Refund; payment: Payment }
  | {
      ok: false
      reason: /** The refund is over, or signed already. */
        | 'notOpen'
        /** The block of the capture is not final yet: try again later. */
        | 'notFinal'
        /**
         * An earlier refund of the same payment is still undecided: try again
         * later.
         */
        | 'otherRefund'
        /**
         * A refund that the store did not know before has used up the amount.
         */
        | 'exceedsCaptured'
        /** You called `suspend`, or the database was replaced: see `resume`. */
        | 'suspended'
      refund: Refund
    }

/** Whether the signature of a refund is accepted, or why not. */
export type AcceptRefundVerdict =
  | { ok: true; refund: Refund }
  | {
      ok: false
      reason: RefundFailure | 'notOpen'
      refund: Refund
    }
