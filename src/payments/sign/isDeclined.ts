/**
 * Error codes for a user who declined: those of EIP-1193, WalletConnect (5000 to
 * 5003) and Ledger.
 */
const codes: readonly unknown[] = [4001, 5000, 5001, 5002, 5003, 0x6985]

/**
 * Some wallets use the general code -32603, so that only the error text says
 * that the user declined. ethers uses the code `ACTION_REJECTED`.
 */
const words =
  /user.{0,9}(reject|den[iy]|declin|cancel|refus)|(reject|den[iy]|declin|cancel|refus).{0,12}user|ACTION_REJ|(^|[^\w ])\W*(action )?cancel+ed\W*$/i

/** True if this error of a wallet says that the user declined. */
export function isDeclined(error: unknown): boolean {
  const { code, statusCode, message } = Object(error)
  return (
    codes.includes(code) ||
    codes.includes(statusCode) ||
    words.test(`${code}${message}`)
  )
}
