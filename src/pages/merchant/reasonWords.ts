const words: Readonly<Record<string, string>> = {
  insufficientFunds: 'the payer does not have enough money',
  insufficientAllowance: 'the payer allows less than the amount',
  expired: 'the window has closed',
  expiresTooSoon: 'the window closes too soon to capture',
  notYetValid: 'the window has not opened yet',
  consumed: 'the payment nonce is already used',
  paused: 'the token is paused',
  payerBlocked: 'the token blocks the payer',
  recipientBlocked: 'the token blocks your account',
  wrongSigner: 'the signature is not the payer’s',
  malformedSignature: 'the signature is malformed',
  walletRejects: 'the payer’s wallet rejects the signature',
  gasTooHigh: 'the capture would use too much gas',
  feeTooHigh: 'the network fee is too high',
  revoked: 'the permission was revoked',
  allowanceUsed: 'the allowance of this period is used',
  nothingToClaim: 'nothing is left to claim',
  channelWithdrawn: 'the channel holds less than this takes',
  unclaimedCharges: 'the charges of the channel are not claimed yet',
  deadlinePassed: 'it is too late to capture',
  notOpen: 'the order is not open',
  needsReview: 'the payer needs a review',
  signingDeclined: 'it was declined in your wallet',
  submitterFunds: 'the sending account cannot pay for gas',
  noWallet: 'the sending account was removed',
  captureInFlight: 'a capture is in flight',
  captureRejected: 'the capture was rejected',
  otherAmount: 'another amount was named before',
  exceedsCeiling: 'the payer signed for less',
}

/** Returns the words for a reason, or the reason itself if it has none. */
export function reasonWords(reason: string): string {
  return words[reason] ?? reason
}
