import type { OrderWords } from './types.js'

export const englishOrderWords: OrderWords = {
  locale: 'en',
  buyer: {
    drafted: {
      state: 'Authorize your payment',
      detail:
        'You sign now; the shop can charge exactly this amount, once. Signing costs no gas and moves no money.',
      next: '',
    },
    draftedCeiling: {
      state: 'Authorize your payment',
      detail:
        'You sign a maximum now. The shop can charge up to this amount, once, and never more. Signing costs no gas and moves no money.',
      next: '',
    },
    signed: {
      state: 'Sending your payment to the shop',
      detail: 'You signed.',
      next: 'The shop is checking your signature.',
    },
    stored: {
      state: 'Payment authorized',
      detail: 'The shop has your signed payment. No money has moved yet.',
      next: '',
    },
    capturing: {
      state: 'The shop is charging you',
      detail: 'The shop has sent the payment to the network.',
      next: '',
    },
    preconfirmed: {
      state: 'Seen by the network',
      detail:
        'The network has put the payment into its next block. It can still be dropped, which is rare.',
      next: '',
    },
    included: {
      state: 'Paid',
      detail: 'The payment is in a block and becomes final soon.',
      next: '',
    },
    safe: {
      state: 'Paid',
      detail: 'The payment is very unlikely to be reversed now.',
      next: 'It becomes final soon.',
    },
    finalized: {
      state: 'Paid, and final',
      detail: 'The payment cannot be reversed. Thank you.',
      next: '',
    },
    canceling: {
      state: 'Your cancellation is on its way',
      detail: 'The shop sent your cancellation to the network.',
      next: 'Once it is in a block, you can never be charged for this payment.',
    },
    canceled: {
      state: 'Canceled',
      detail:
        'This payment is canceled on the chain. No money moved, and you can never be charged for it.',
      next: '',
    },
    voided: {
      state: 'The shop closed this order',
      detail:
        'The shop will not charge you. Your signature stays valid until it expires.',
      next: 'Cancel the payment to end it now.',
    },
    voidedUnsigned: {
      state: 'The shop closed this order',
      detail: 'You signed nothing, so you cannot be charged.',
      next: '',
    },
    expired: {
      state: 'This order has expired',
      detail: 'No money moved, and you can never be charged for it.',
      next: '',
    },
    expiredSigned: {
      state: 'This order has expired',
      detail:
        'The shop did not charge you in time. No money moved, and you can never be charged for it.',
      next: '',
    },
    expiredUnsigned: {
      state: 'This order has expired',
      detail: 'You did not sign the payment in time. No money moved.',
      next: '',
    },
    consumed: {
      state: 'Please contact the shop',
      detail:
        'You cannot be charged for this payment any more: its nonce was used for something else on the chain.',
      next: '',
    },
    refunding: {
      state: 'Your refund is on its way',
      detail: 'The shop is paying {amount} back to the account that paid.',
      next: '',
    },
    refundFailed: {
      state: 'Please contact the shop',
      detail: 'The refund of {amount} did not go through.',
      next: '',
    },
    partlyRefunded: {
      state: 'Refunded {amount}',
      detail: 'The shop paid {amount} back to the account that paid{place}.',
      next: '',
    },
    refunded: {
      state: 'Refunded {amount}',
      detail: 'The shop paid {amount} back to the account that paid{place}.',
      next: '',
    },
    unknown: {
      state: 'In progress',
      detail: 'This page does not know the state of this order yet.',
      next: 'Load the page again, or contact the shop.',
    },
  },
  merchant: {
    drafted: {
      state: 'Awaiting signature',
      detail: 'The buyer has not signed yet.',
      next: '',
    },
    draftedCeiling: {
      state: 'Awaiting signature',
      detail: 'The buyer has not signed the ceiling yet.',
      next: '',
    },
    signed: {
      state: 'Awaiting signature',
      detail: 'The buyer signed; the payment is not stored yet.',
      next: '',
    },
    stored: {
      state: 'Authorized',
      detail: 'The shop has the signed payment. No money has moved.',
      next: 'Capture it in time, or void it.',
    },
    capturing: {
      state: 'Capturing',
      detail: 'The capture was sent to the network.',
      next: '',
    },
    preconfirmed: {
      state: 'Pre-confirmed',
      detail:
        'The capture is in a block that is not complete yet. It can still be dropped.',
      next: 'Do not deliver yet.',
    },
    included: {
      state: 'Captured',
      detail: 'The money arrived. The chain proves it.',
      next: 'It becomes final soon.',
    },
    safe: {
      state: 'Captured',
      detail: 'The money arrived and is very unlikely to be reversed.',
      next: 'It becomes final soon.',
    },
    finalized: {
      state: 'Captured',
      detail: 'The money arrived. The payment is final.',
      next: '',
    },
    canceling: {
      state: 'Canceling',
      detail: 'The buyer’s cancellation was sent to the network.',
      next: '',
    },
    canceled: {
      state: 'Canceled',
      detail: 'The payment is canceled on the chain and can never be captured.',
      next: '',
    },
    voided: {
      state: 'Voided',
      detail:
        'The shop gave up on this payment. The signature stays valid until it expires.',
      next: '',
    },
    voidedUnsigned: {
      state: 'Voided',
      detail: 'The shop gave up on this order. Nobody signed it.',
      next: '',
    },
    expired: {
      state: 'Expired',
      detail: 'The window closed and no money moved.',
      next: '',
    },
    expiredSigned: {
      state: 'Expired',
      detail: 'The payment was not captured in time. No money moved.',
      next: 'Ask the buyer to sign again.',
    },
    expiredUnsigned: {
      state: 'Expired',
      detail: 'The buyer did not sign in time. No money moved.',
      next: '',
    },
    consumed: {
      state: 'Nonce used elsewhere',
      detail: 'The payment’s nonce was used for something else.',
      next: 'Decide what to do with the order.',
    },
    refunding: {
      state: 'Refund on its way',
      detail: '{amount} is being paid back to the payer.',
      next: '',
    },
    refundFailed: {
      state: 'Refund failed',
      detail: 'The refund of {amount} did not go through.',
      next: 'Refund again.',
    },
    partlyRefunded: {
      state: 'Partly refunded',
      detail: 'You paid {amount} back to the payer{place}.',
      next: '',
    },
    refunded: {
      state: 'Refunded',
      detail: 'You paid {amount} back to the payer{place}.',
      next: '',
    },
    unknown: {
      state: 'Unknown state',
      detail: 'A newer server wrote the state of this order.',
      next: 'Update this program to read it.',
    },
  },
  requested: {
    capture: 'The capture that you requested is sent next.',
    void: 'It is voided if the capture fails.',
    cancel: 'The cancellation is on its way.',
  },
  urgent: {
    unexpected: 'The payment came unexpected: refund it.',
    overpaid: 'The buyer paid twice: refund the second payment.',
    needsReview: 'It waits for your decision: capture it or void it.',
  },
  because: 'Reason: {reason}.',
  reasons: {
    malformedSignature: 'the signature is malformed',
    wrongChain: 'the payment is for another chain',
    wrongToken: 'the payment is for another token',
    wrongPrimaryType: 'another kind of message was signed',
    wrongNonce: 'the payment has another nonce',
    wrongPayer: 'the payment is from another account',
    wrongRecipient: 'the payment is to another account',
    wrongOperator: 'the payment names another operator',
    selfPayment: 'payer and recipient are the same account',
    windowTooLong: 'the window is too long',
    paused: 'the token is paused',
    payerBlocked: 'the token blocks the payer',
    recipientBlocked: 'the token blocks your account',
    notYetValid: 'the window has not opened yet',
    expired: 'the window has closed',
    consumed: 'the payment nonce is already used',
    wrongDomain: 'the token has another domain',
    wrongSigner: 'the signature is not the payer’s',
    walletNotDeployed: 'the payer’s wallet is not deployed',
    walletRejects: 'the payer’s wallet rejects the signature',
    insufficientFunds: 'the payer does not have enough money',
    insufficientAllowance:
      'the payer let the checkout contract take less than the payment',
    unsupportedToken: 'the token has no signed transfers',
    checkoutNotDeployed: 'the checkout contract is not deployed',
    gasTooHigh: 'the capture would use too much gas',
    simulationFailed: 'the rehearsal failed',
    wrongAmount: 'the payment is of another amount',
    expiresTooSoon: 'the window closes too soon to capture',
    wrongSubmitter: 'only the recipient can submit it',
    unsimulatedWallet: 'the signature of the wallet could not be checked',
    contractPayer: 'the payer is a contract',
    deadlinePassed: 'it is too late to capture',
    feeTooHigh: 'the network fee is too high',
    otherPayment: 'another payment was made with its nonce',
    sealBroken: 'the stored signature cannot be opened',
    revoked: 'the permission was revoked',
    allowanceUsed: 'the allowance of this period is used',
    nothingToClaim: 'nothing is left to claim',
    channelWithdrawn: 'the channel holds less than this takes',
    unclaimedCharges: 'the charges of the channel are not claimed yet',
    needsReview: 'the payer needs a review',
    replaced: 'the transaction was no longer needed',
    voided: 'it was voided in the meantime',
    signingDeclined: 'it was declined in your wallet',
    walletRefused: 'your wallet refused to send it',
  },
  place: { one: ', in block {blocks}', several: ', in blocks {blocks}' },
  deadlines: {
    buyer: {
      sign: 'Time left to sign',
      capture: 'Time left for the shop to charge you',
      signature: 'Your signature expires in',
      over: 'Expired at',
    },
    merchant: {
      sign: 'Time left for the buyer to sign',
      capture: 'Time left to capture',
      signature: 'The buyer’s signature expires in',
      over: 'Expired at',
    },
  },
}
