import type { RejectionReason } from '../../core/types.js'
import type {
  AcceptRefusal,
  CaptureRefusal,
  RefundRefusal,
} from '../../orders/index.js'

/** Why a request was refused. Each reason is a row in `docs/errors.md`. */
export type ProblemReason =
  | RejectionReason
  | AcceptRefusal
  | CaptureRefusal
  | RefundRefusal
  | 'notFinal'
  | 'otherRefund'
  | 'suspended'
  | 'refundLimit'
  | 'refundForbidden'
  | 'refundNotFound'
  | 'subscriptionNotFound'
  | 'operationForbidden'
  | 'permissionRejected'
  | 'subscriptionIdInUse'
  | 'chargeConflict'
  | 'chargeVoided'
  | 'exceedsAllowance'
  | 'captureInFlight'
  | 'canceled'
  | 'captureRejected'
  | 'noRoute'
  | 'methodNotAllowed'
  | 'crossSite'
  | 'unauthorized'
  | 'orderNotFound'
  | 'orderIdInUse'
  | 'wrongContentType'
  | 'tooLarge'
  | 'invalidField'
  | 'cursorAhead'
  | 'tooManyStreams'
  | 'comparisonRunning'
  | 'overloaded'
  | 'timeout'
  | 'nodeUnavailable'
  | 'storeUnavailable'
  | 'storeLost'
  | 'wrongSetup'
  | 'stopping'
  | 'internal'

export type ProblemRow = {
  status: number
  title: string
  detail: string
  /** Seconds after which the client may try again (header `Retry-After`). */
  retryAfter?: number
}

/**
 * Status and texts of each problem. The compiler checks that none is missing.
 */
export const problemTable: Readonly<Record<ProblemReason, ProblemRow>> = {
  noRoute: {
    status: 404,
    title: 'No such route',
    detail: 'Nothing is served at this address.',
  },
  methodNotAllowed: {
    status: 405,
    title: 'Method not allowed',
    detail: 'This address does not accept this method; see the Allow header.',
  },
  crossSite: {
    status: 403,
    title: 'Cross-site request',
    detail: 'Pages of this origin are not allowed here.',
  },
  unauthorized: {
    status: 401,
    title: 'Not authorized',
    detail: 'This request needs the sign-in of a merchant.',
  },
  orderNotFound: {
    status: 404,
    title: 'No such order',
    detail: 'Order not found, or you do not have access to it.',
  },
  orderIdInUse: {
    status: 409,
    title: 'Order id in use',
    detail:
      'This Idempotency-Key belongs to another order, or to an order that is paid or has ended.',
  },
  wrongContentType: {
    status: 415,
    title: 'Not JSON',
    detail: 'The body must be sent as application/json.',
  },
  tooLarge: {
    status: 413,
    title: 'Body too large',
    detail: 'The body has more than 65536 bytes.',
  },
  invalidField: {
    status: 400,
    title: 'Invalid field',
    detail: 'A field is missing, unknown or malformed.',
  },
  cursorAhead: {
    status: 409,
    title: 'Cursor ahead',
    detail:
      'This cursor is newer than the newest event: it is from another database.',
  },
  tooManyStreams: {
    status: 429,
    title: 'Too many streams',
    detail: 'Too many streams are open; close one, or try again later.',
    retryAfter: 5,
  },
  comparisonRunning: {
    status: 429,
    title: 'Already comparing',
    detail:
      'An audit or a reconciliation of this merchant is running; wait for its end.',
    retryAfter: 5,
  },
  overloaded: {
    status: 503,
    title: 'Too many requests at once',
    detail: 'The server answers too many requests now; nothing was done.',
    retryAfter: 1,
  },
  timeout: {
    status: 503,
    title: 'Took too long',
    detail:
      'The answer was not ready in time; the same request may be sent again.',
    retryAfter: 1,
  },
  nodeUnavailable: {
    status: 503,
    title: 'Chain unavailable',
    detail: 'A node of the chain did not answer as it should; try again.',
    retryAfter: 2,
  },
  storeUnavailable: {
    status: 503,
    title: 'Store unavailable',
    detail: 'The database could not be read or written; try again.',
    retryAfter: 1,
  },
  storeLost: {
    status: 503,
    title: 'Store lost',
    detail: 'The server can use its database again after a restart only.',
  },
  wrongSetup: {
    status: 503,
    title: 'Wrong setup',
    detail: 'The configuration of the server does not fit its database.',
  },
  stopping: {
    status: 503,
    title: 'Stopping',
    detail: 'The server is stopping; another one answers.',
    retryAfter: 1,
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong on the server; its log says more.',
  },
  malformedSignature: {
    status: 422,
    title: 'Malformed signature',
    detail: 'The token cannot read this signature; sign again.',
  },
  wrongChain: {
    status: 422,
    title: 'Wrong chain',
    detail: 'The payment is for another chain.',
  },
  wrongToken: {
    status: 422,
    title: 'Wrong token',
    detail: 'The payment is in another token.',
  },
  wrongPrimaryType: {
    status: 422,
    title: 'Wrong message type',
    detail: 'The order asks for another type of message.',
  },
  wrongNonce: {
    status: 422,
    title: 'Wrong nonce',
    detail:
      'The payment is for another order, or its token does not take the nonce.',
  },
  wrongPayer: {
    status: 422,
    title: 'Wrong payer',
    detail: 'Another account must pay this order.',
  },
  wrongRecipient: {
    status: 422,
    title: 'Wrong recipient',
    detail: 'The payment goes to another account.',
  },
  wrongOperator: {
    status: 422,
    title: 'Wrong operator',
    detail: 'Another account would capture the payment.',
  },
  selfPayment: {
    status: 422,
    title: 'Payment to oneself',
    detail: 'Payer and recipient are the same account.',
  },
  windowTooLong: {
    status: 422,
    title: 'Window too long',
    detail: 'The payment is valid for too long.',
  },
  paused: {
    status: 422,
    title: 'Token paused',
    detail: 'The issuer has paused the token.',
  },
  payerBlocked: {
    status: 422,
    title: 'Payer blocked',
    detail: 'The token blocks the paying account.',
  },
  recipientBlocked: {
    status: 422,
    title: 'Recipient blocked',
    detail: 'The token blocks the account that is paid.',
  },
  notYetValid: {
    status: 422,
    title: 'Not yet valid',
    detail: 'The payment becomes valid later.',
  },
  expired: {
    status: 422,
    title: 'Expired',
    detail: 'The time to capture the payment is over.',
  },
  consumed: {
    status: 422,
    title: 'Already spent',
    detail: 'The authorization is spent or canceled on the chain.',
  },
  wrongDomain: {
    status: 422,
    title: 'Wrong domain',
    detail: 'The payment was signed for another domain than the token has.',
  },
  wrongSigner: {
    status: 422,
    title: 'Wrong signer',
    detail: 'The signature is from another account, or for another payment.',
  },
  walletNotDeployed: {
    status: 422,
    title: 'Wallet not deployed',
    detail: 'The paying wallet has no contract on this chain yet.',
  },
  walletRejects: {
    status: 422,
    title: 'Wallet refuses',
    detail: 'The paying wallet refuses the signature.',
  },
  insufficientFunds: {
    status: 422,
    title: 'Too little money',
    detail: 'The paying account holds less than the amount.',
  },
  insufficientAllowance: {
    status: 422,
    title: 'Too low an allowance',
    detail:
      'The payer replaced the signed permit by one of less than the amount.',
  },
  unsupportedToken: {
    status: 422,
    title: 'Token not supported',
    detail: 'The token or the kind of payment does not support this.',
  },
  checkoutNotDeployed: {
    status: 422,
    title: 'Checkout contract not deployed',
    detail: 'The checkout contract of the payment is not on this chain yet.',
  },
  gasTooHigh: {
    status: 422,
    title: 'Too costly',
    detail: 'The payment takes more gas than is allowed.',
  },
  simulationFailed: {
    status: 422,
    title: 'Refused by the token',
    detail: 'The token would refuse this payment.',
  },
  wrongAmount: {
    status: 422,
    title: 'Wrong amount',
    detail: 'The payment is of another amount.',
  },
  expiresTooSoon: {
    status: 422,
    title: 'Expires too soon',
    detail: 'Too little time is left to capture the payment.',
  },
  wrongSubmitter: {
    status: 422,
    title: 'Wrong sender',
    detail: 'Only the recipient can send this payment.',
  },
  unsimulatedWallet: {
    status: 422,
    title: 'Not simulated',
    detail:
      'The signature of a contract wallet cannot be checked without simulating the payment.',
  },
  wrongWindow: {
    status: 422,
    title: 'Wrong window',
    detail: 'The signed window is not the one that was offered last.',
  },
  exposureTooHigh: {
    status: 422,
    title: 'Too much open',
    detail: 'The balance of this account does not cover all its open payments.',
  },
  submitterFunds: {
    status: 503,
    title: 'No gas',
    detail: 'The shop cannot pay for captures at the moment; try again later.',
    retryAfter: 10,
  },
  noWallet: {
    status: 503,
    title: 'No wallet',
    detail: 'The shop cannot send this payment at the moment; try again later.',
    retryAfter: 10,
  },
  contractPayer: {
    status: 422,
    title: 'Contract wallet',
    detail: 'This shop does not accept contract wallets.',
  },
  otherPayment: {
    status: 409,
    title: 'Another payment',
    detail: 'The order already has another payment.',
  },
  otherAmount: {
    status: 409,
    title: 'Another amount',
    detail:
      'The amount is not that of the order, or another amount was captured.',
  },
  exceedsCeiling: {
    status: 409,
    title: 'Above the ceiling',
    detail: 'The amount is more than the payer signed for.',
  },
  permitOpen: {
    status: 409,
    title: 'The payer has another open permit',
    detail: 'The payer has another open order with a permit of this token.',
  },
  tooManyTries: {
    status: 429,
    title: 'Too many tries',
    detail: 'Too many payments or cancellations were refused for this order.',
  },
  acceptInFlight: {
    status: 409,
    title: 'Payment being checked',
    detail: 'Another payment of this order is being checked; send it again.',
    retryAfter: 1,
  },
  notOpen: {
    status: 409,
    title: 'Not open',
    detail: 'The order is in a state that does not allow this.',
  },
  feeTooHigh: {
    status: 422,
    title: 'Fee too high',
    detail: 'The capture would cost more than is allowed.',
  },
  deadlinePassed: {
    status: 422,
    title: 'Too late',
    detail: 'Too little time is left to send the capture.',
  },
  sealBroken: {
    status: 422,
    title: 'Signature unreadable',
    detail: 'The shop cannot decrypt the stored signature.',
  },
  captureInFlight: {
    status: 409,
    title: 'Capture in flight',
    detail:
      'A capture is in flight. Your request is kept, and done if the capture fails.',
  },
  canceled: {
    status: 409,
    title: 'Canceled',
    detail: 'The payer has canceled the payment.',
  },
  refundForbidden: {
    status: 403,
    title: 'Not allowed to refund',
    detail: 'Your access does not allow refunds.',
  },
  refundLimit: {
    status: 403,
    title: 'Refund limit reached',
    detail: 'Your access allows no more refunds today.',
  },
  refundNotFound: {
    status: 404,
    title: 'No such refund',
    detail: 'The order has no refund with this id.',
  },
  refundConflict: {
    status: 409,
    title: 'Refund id in use',
    detail: 'This refundId belongs to a refund of another amount.',
  },
  notCaptured: {
    status: 409,
    title: 'Not captured',
    detail: 'The order is not captured, so there is nothing to refund.',
  },
  exceedsCaptured: {
    status: 409,
    title: 'More than is left',
    detail: 'The amount is more than what other refunds leave of the payment.',
  },
  notFinal: {
    status: 409,
    title: 'Not final yet',
    detail: 'The block of the capture is not final yet; try again later.',
    retryAfter: 60,
  },
  otherRefund: {
    status: 409,
    title: 'Earlier refund open',
    detail: 'An earlier refund of the same payment is not decided yet.',
  },
  suspended: {
    status: 503,
    title: 'Shop suspended',
    detail: 'The shop is suspended: nothing is signed until it resumes.',
    retryAfter: 60,
  },
  subscriptionNotFound: {
    status: 404,
    title: 'No such subscription',
    detail: 'Subscription not found, or you do not have access to it.',
  },
  subscriptionIdInUse: {
    status: 409,
    title: 'Subscription id in use',
    detail:
      'This Idempotency-Key belongs to another subscription or order, or to a subscription that is signed.',
  },
  permissionRejected: {
    status: 422,
    title: 'Permission rejected',
    detail: 'The permission cannot be charged.',
  },
  chargeConflict: {
    status: 409,
    title: 'Charge id in use',
    detail: 'This chargeId belongs to a charge of another amount.',
  },
  chargeVoided: {
    status: 409,
    title: 'Charge voided',
    detail: 'The charge was voided; charge under a new chargeId.',
  },
  exceedsAllowance: {
    status: 422,
    title: 'More than the allowance',
    detail: 'The amount is more than the permission allows in one period.',
  },
  operationForbidden: {
    status: 403,
    title: 'Not allowed to operate',
    detail: 'Your access does not allow actions on the whole database.',
  },
  captureRejected: {
    status: 422,
    title: 'Capture rejected',
    detail: 'The order was not captured: its reason field says why.',
  },
}
