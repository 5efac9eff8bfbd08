import {
  formatAmount,
  SigningDeclinedError,
  UnexpectedPaymentError,
  WalletError,
  WrongWalletError,
} from 'countersign'
import { ProblemError, ServerError } from 'countersign/client'
import { groupAmount, shortHex } from '../../../../src/pages/ui/format.js'
import type { Tone } from '../../../../src/pages/ui/states.js'
import type { ShopConfig } from '../api/shop.js'
import { TooLittleMoney, WrongNetwork } from './failures.js'

/** What went wrong, in words, and what helps. */
export type Failure = {
  title: string
  text: string
  tone: Tone
  help?: 'switchNetwork' | 'changeAccount' | 'testMoney' | undefined
}

export type Purchase = Pick<ShopConfig, 'decimals' | 'symbol'> & {
  amount: string
}

export function explainFailure(error: unknown, purchase: Purchase): Failure {
  if (error instanceof WrongNetwork) return wrongNetwork(error.chainId)
  if (error instanceof TooLittleMoney)
    return tooLittleMoney(purchase, error.balance)
  if (error instanceof SigningDeclinedError) return declined
  if (error instanceof WrongWalletError) return wrongWallet(error)
  if (error instanceof UnexpectedPaymentError) return unexpected
  if (error instanceof ProblemError) return explainProblem(error, purchase)
  if (error instanceof ServerError) return unreachable
  if (globalThis.navigator?.onLine === false) return offline
  return explainWallet(error)
}

const declined: Failure = {
  title: 'You declined in your wallet',
  text: 'Nothing was signed and no money moved. You can try again while the order is open.',
  tone: 'neutral',
}

const unexpected: Failure = {
  title: 'This is not what you ordered',
  text: 'The shop asked for a different payment than this page shows. You signed nothing.',
  tone: 'bad',
}

const unreachable: Failure = {
  title: 'The shop cannot be reached',
  text: 'Nothing is lost. Try again in a moment.',
  tone: 'warn',
}

const offline: Failure = {
  title: 'You are offline',
  text: 'Nothing was signed and no money moved. Try again when you are connected.',
  tone: 'warn',
}

function wrongNetwork(chainId: number): Failure {
  const name = chainId === 8453 ? 'Base' : `chain ${chainId}`
  return {
    title: 'Your wallet is on another network',
    text: `It is on ${name}. This shop takes payments on the development chain (31337) only.`,
    tone: 'warn',
    help: 'switchNetwork',
  }
}

function tooLittleMoney(
  { amount, symbol, decimals }: Purchase,
  balance?: bigint,
): Failure {
  const held =
    balance === undefined
      ? 'less'
      : `${groupAmount(formatAmount(balance, decimals))} ${symbol}`
  return {
    title: 'Not enough money in this account',
    text: `It holds ${held}; the payment needs ${groupAmount(amount)} ${symbol}. Choose another account, or get test money from the development chain.`,
    tone: 'warn',
    help: 'testMoney',
  }
}

function wrongWallet({ details }: WrongWalletError): Failure {
  if (details.field === 'chainId') return wrongNetwork(Number(details.found))
  return {
    title: 'Your wallet uses another account',
    text: `This payment belongs to ${shortHex(String(details.expected))}. Choose that account in your wallet and try again.`,
    tone: 'warn',
    help: 'changeAccount',
  }
}

function explainProblem(problem: ProblemError, purchase: Purchase): Failure {
  const tone = 'warn'
  switch (problem.reason) {
    case 'insufficientFunds':
    case 'exposureTooHigh':
      return tooLittleMoney(purchase)
    case 'wrongSigner':
      return {
        title: 'Another account signed this payment',
        text: 'The signature does not belong to the account shown here. No money moved. Choose that account in your wallet and try again.',
        tone,
        help: 'changeAccount',
      }
    case 'expired':
    case 'expiresTooSoon':
    case 'deadlinePassed':
      return {
        title: 'This order has expired',
        text: 'The payment was not completed in time. No money moved. Please order again.',
        tone,
      }
    case 'captureInFlight':
      return {
        title: 'The shop is charging this payment',
        text: 'The shop sends your cancellation if the charge fails. If the charge succeeds, you have paid.',
        tone,
      }
    case 'notOpen':
    case 'consumed':
      return {
        title: 'The order has changed',
        text: 'This is not possible any more. The page shows the new state.',
        tone,
      }
    default:
      return {
        title: 'The shop refused your request',
        text: `${problem.message} No money moved.`,
        tone,
      }
  }
}

function explainWallet(error: unknown): Failure {
  const code =
    error instanceof WalletError ? error.details.code : Object(error).code
  if (code === 4001) return declined
  if (code === -32_002)
    return {
      title: 'Your wallet is waiting for an answer',
      text: 'Open your wallet, answer its open request, then try again.',
      tone: 'warn',
    }
  return {
    title: 'Your wallet did not sign',
    text: 'Nothing was signed and no money moved. Try again, or choose another wallet.',
    tone: 'warn',
    help: 'changeAccount',
  }
}
