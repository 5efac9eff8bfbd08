/**
 * Error codes for a user who declined: those of EIP-1193, WalletConnect (5001
 * and 5002: the chains or the methods of a session), Ledger and Trezor.
 */
const codes: readonly unknown[] = [
  4001,
  5000,
  5001,
  5002,
  0x6985,
  'Failure_ActionCancelled',
  'Method_Cancel',
]

/**
 * Some wallets use the general code -32603, so that only the error text says
 * that the user declined. ethers uses the code `ACTION_REJECTED`.
 */
const words =
  /user.{0,9}(reject|den[iy]|declin|cancel|refus)|(reject|den[iy]|declin|cancel|refus).{0,12}user|ACTION_REJ/i

/**
 * The whole text of a Trezor's error when the user declined. Longer texts with
 * this word can mean something else.
 */
const onlyWords = /^(action )?cancell?ed\.?$/i

/** True if this error of a wallet says that the user declined. */
export function isDeclined(error: unknown): boolean {
  const { code, statusCode, message } = Object(error)
  return (
    codes.includes(code) ||
    codes.includes(statusCode) ||
    words.test(`${code}${message}`) ||
    onlyWords.test(message)
  )
}
