const words: Readonly<Record<string, string>> = {
  insufficientBalance: 'the payer has too little money',
  expired: 'the window is over',
  notYetValid: 'the window has not begun',
  consumed: 'the payment was used already',
  paused: 'the token is paused',
  blocked: 'the token blocks one of the two sides',
  badSignature: 'the signature does not fit',
  feeTooHigh: 'the network’s fee is too high',
  deadlinePassed: 'it is too late to send',
  notOpen: 'the order is not open',
  submitterFunds: 'the sending account has too little for gas',
  noWallet: 'the account that would send it was removed',
  captureInFlight: 'a capture is under way',
  captureRejected: 'the capture was rejected',
}

/** Why something did not happen; a reason without words keeps its name. */
export function reasonWords(reason: string): string {
  return words[reason] ?? reason
}
