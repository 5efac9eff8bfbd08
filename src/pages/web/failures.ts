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
  if (error instanceof UnknownNetwork)
    return { title: 'unknownNetworkTitle', text: 'unknownNetworkText' }
  if (error instanceof WrongAccount) return wrongAccount(error.account)
  if (error instanceof NotOpen) return changed
  if (error instanceof SigningDeclinedError || isDeclined(error))
    return { title: 'declinedTitle', text: 'declinedText' }
  if (error instanceof WrongWalletError)
    return error.details.field === 'chainId'
      ? wrongNetwork
      : wrongAccount(String(error.details.expected))
  if (
    error instanceof UnexpectedPaymentError ||
    error instanceof InvalidFieldError ||
    error instanceof InvalidAmountError
  )
    return { title: 'unexpectedTitle', text: 'unexpectedText', isSerious: true }
  if (error instanceof ProblemError) return explainProblem(error)
  if (navigator.onLine === false)
    return { title: 'offlineTitle', text: 'offlineText' }
  if (error instanceof ServerError)
    return { title: 'unreachableTitle', text: 'unreachableText' }
  const code =
    error instanceof WalletError ? error.details.code : Object(error).code
  return code === -32_002
    ? { title: 'busyTitle', text: 'busyText' }
    : { title: 'walletTitle', text: 'walletText', help: 'changeAccount' }
}

const wrongNetwork: PageFailure = {
  title: 'wrongNetworkTitle',
  text: 'wrongNetworkText',
  help: 'switchNetwork',
}

const changed: PageFailure = { title: 'changedTitle', text: 'changedText' }

function wrongAccount(account: string): PageFailure {
  return {
    title: 'wrongAccountTitle',
    text: 'wrongAccountText',
    values: { account: shortenAddress(account) },
    help: 'changeAccount',
  }
}

function explainProblem({ reason, message }: ProblemError): PageFailure {
  switch (reason) {
    case 'insufficientFunds':
    case 'exposureTooHigh':
      return {
        title: 'tooLittleTitle',
        text: 'tooLittleText',
        help: 'changeAccount',
      }
    case 'wrongSigner':
      return {
        title: 'wrongSignerTitle',
        text: 'wrongSignerText',
        help: 'changeAccount',
      }
    case 'expired':
    case 'expiresTooSoon':
    case 'deadlinePassed':
      return { title: 'tooLateTitle', text: 'tooLateText' }
    case 'captureInFlight':
      return { title: 'inFlightTitle', text: 'inFlightText' }
    case 'notOpen':
    case 'consumed':
      return changed
    default:
      return {
        title: 'refusedTitle',
        text: 'refusedText',
        values: { reason: message },
        isSerious: true,
      }
  }
}
