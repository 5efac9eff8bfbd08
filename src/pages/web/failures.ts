import { ProblemError, ServerError } from '../../client/errors.js'
import { InvalidAmountError, InvalidFieldError } from '../../core/errors.js'
import {
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from '../../payments/sign/errors.js'
import { isDeclined } from '../../payments/sign/isDeclined.js'
import { shortenAddress } from './format.js'
import type { PageFailure } from './pageData.js'

/** The wallet is on another chain than the payment. */
export class WrongNetwork extends Error {}

/** The wallet does not know the chain of the payment. */
export class UnknownNetwork extends Error {}

/** The order was paid, or ended, while this payment was being signed. */
export class NotOpen extends Error {}

/** The payment belongs to another account than the wallet shows. */
export class WrongAccount extends Error {
  readonly account: string

  constructor(account: string) {
    super(`The payment belongs to ${account}.`)
    this.account = account
  }
}

export function explainFailure(error: unknown): PageFailure {
  if (error instanceof WrongNetwork) return wrongNetwork
  if (error instanceof UnknownNetwork) return { reason: 'unknownNetwork' }
  if (error instanceof WrongAccount) return wrongAccount(error.account)
  if (error instanceof NotOpen) return changed
  if (error instanceof SigningDeclinedError || isDeclined(error))
    return { reason: 'declined' }
  if (error instanceof WrongWalletError)
    return error.details.field === 'chainId'
      ? wrongNetwork
      : wrongAccount(String(error.details.expected))
  if (
    error instanceof UnexpectedPaymentError ||
    error instanceof InvalidFieldError ||
    error instanceof InvalidAmountError
  )
    return { reason: 'unexpected', isSerious: true }
  if (error instanceof ProblemError) return explainProblem(error)
  if (navigator.onLine === false) return { reason: 'offline' }
  if (error instanceof ServerError) return { reason: 'unreachable' }
  const code =
    error instanceof WalletError ? error.details.code : Object(error).code
  return code === -32_002
    ? { reason: 'busy' }
    : { reason: 'wallet', help: 'changeAccount' }
}

const wrongNetwork: PageFailure = {
  reason: 'wrongNetwork',
  help: 'switchNetwork',
}

const changed: PageFailure = { reason: 'changed' }

function wrongAccount(account: string): PageFailure {
  return {
    reason: 'wrongAccount',
    values: { account: shortenAddress(account) },
    help: 'changeAccount',
  }
}

function explainProblem({ reason, message }: ProblemError): PageFailure {
  switch (reason) {
    case 'insufficientFunds':
    case 'exposureTooHigh':
      return {
        reason: 'tooLittle',
        help: 'changeAccount',
      }
    case 'wrongSigner':
      return {
        reason: 'wrongSigner',
        help: 'changeAccount',
      }
    case 'expired':
    case 'expiresTooSoon':
    case 'deadlinePassed':
      return { reason: 'tooLate' }
    case 'captureInFlight':
      return { reason: 'inFlight' }
    case 'notOpen':
    case 'consumed':
      return changed
    default:
      return {
        reason: 'refused',
        values: { reason: message },
        isSerious: true,
      }
  }
}
