/** The wallet is on a chain this page does not sign for. */
export class WrongNetwork extends Error {
  readonly chainId: number

  constructor(chainId: number) {
    super(`The wallet is on chain ${chainId}.`)
    this.chainId = chainId
  }
}

/** The account holds less than the payment. */
export class TooLittleMoney extends Error {
  readonly balance: bigint

  constructor(balance: bigint) {
    super('The account holds too little.')
    this.balance = balance
  }
}

/** The order was paid, or ended, while this payment was being signed. */
export class NotOpen extends Error {}
