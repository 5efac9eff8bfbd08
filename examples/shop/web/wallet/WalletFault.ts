/** An error as wallets have them: EIP-1193 names the codes. */
export class WalletFault extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}
