import { CountersignError } from '../../core/CountersignError.js'
import { errorName } from '../../core/errorName.js'
import { shorten } from '../../core/errors.js'

/**
 * The payment or cancellation differs from what the page expects. The wallet
 * was not asked.
 */
export class UnexpectedPaymentError extends CountersignError {
  override readonly name = 'UnexpectedPaymentError'

  constructor(field: string, given: unknown, expected: unknown) {
    // Cuts the value, because it may be a signature in the wrong field.
    const found = typeof given === 'string' ? shorten(given) : given
    super(`The payment's ${field} must be ${expected}, not ${found}.`, {
      field,
      found,
      expected,
    })
  }
}

/** The wallet is on another chain, or has another account, than the payment. */
export class WrongWalletError extends CountersignError {
  override readonly name = 'WrongWalletError'

  constructor(field: 'chainId' | 'account', found: unknown, expected: unknown) {
    super(`The wallet's ${field} must be ${expected}, not ${found}.`, {
      field,
      found,
      expected,
    })
  }
}

/** The user declined in the wallet. Nothing was signed. */
export class SigningDeclinedError extends CountersignError {
  override readonly name = 'SigningDeclinedError'

  constructor() {
    super('The user declined to sign.')
  }
}

/** The names of JavaScript's own errors. Any other name could be a secret. */
const mistakes = /^(Range|Reference|Syntax|Type)Error$/

/** What the engines say of `JSON.stringify` with a bigint. */
const bigintWords = /serializ.*bigint|bigint.*serializ/i

/**
 * The wallet failed, or did not return a signature. Contains the wallet's error
 * code, and the class of an error of JavaScript, but not the wallet's text or
 * its answer, which could be secret.
 */
export class WalletError extends CountersignError {
  override readonly name = 'WalletError'
  override readonly retryable: boolean

  /**
   * @param answer `0x`, or the type of the answer, when it is not a signature.
   * @param error What the wallet threw.
   */
  constructor(
    code?: number | undefined,
    answer?: string | undefined,
    error?: unknown,
  ) {
    const thrown = mistakes.exec(errorName(error))?.[0]
    const isBigint = thrown && bigintWords.test(Object(error).message)
    const problem =
      code === 4100
        ? ': it is locked, or does not share this account'
        : code === 4200 || code === -32_601
          ? ': it does not support eth_signTypedData_v4'
          : answer === '0x' || answer === 'object'
            ? `: it answered ${answer}, like a Safe that signs on chain`
            : isBigint
              ? ': its account cannot write a bigint as JSON'
              : thrown
                ? `: it threw a ${thrown}`
                : ''
    super(`The wallet gave no signature${problem}.`, { code, answer, thrown })
    this.retryable = !answer && !isBigint
  }
}
