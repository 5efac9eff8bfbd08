/**
 * Codes of EIP-1193, WalletConnect and Ledger (0x6985). Some wallets answer
 * -32603 and say it in words only; ethers has a name for it.
 */
const declined =
  /^(4001|5000|27013),|user.*(reject|den[iy]|declin|cancel)|ed by( the)? user|0x6985|ACTION_REJ/i

/** True if this error of a wallet says that the user declined. */
export function isDeclined(error: unknown): boolean {
  const { code, statusCode = code, details, message } = Object(error)
  return declined.test([statusCode, code, details, message].join())
}
