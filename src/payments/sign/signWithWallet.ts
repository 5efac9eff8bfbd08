import type { Account, Address, Hex } from 'viem'
import { InvalidFieldError } from '../../core/errors.js'
import { normalizeSignature } from '../../core/signature.js'
import { toJson } from '../../core/toJson.js'
import type { SigningPayload } from '../message/paymentTypedData.js'
import {
  SigningDeclinedError,
  WalletError,
  WrongWalletError,
} from './errors.js'
import { isDeclined } from './isDeclined.js'

/**
 * A viem client with an account, or an EIP-1193 provider of a browser wallet.
 * The provider signs with the payer's account.
 */
export type Wallet = {
  /** The function `request` of EIP-1193. */
  // biome-ignore lint/suspicious/noExplicitAny: viem's and each wallet's request differ in their parameter type only
  request(args: any, options?: any): Promise<unknown>
  account?: Account | Address | undefined
}

/**
 * Asks a wallet to sign typed data. Returns the signature in the form that
 * tokens accept.
 */
export async function signWithWallet(
  wallet: Wallet,
  payload: SigningPayload,
  payer: Address,
): Promise<Hex> {
  const given: Partial<Wallet> = Object(wallet)
  const account = given.account ?? payer
  const signer: Signer =
    typeof account === 'string' ? { address: account } : account
  if (!signer.signTypedData && typeof given.request !== 'function')
    throw new InvalidFieldError(
      'wallet',
      wallet,
      'a viem wallet client or an EIP-1193 provider',
      wallet ? undefined : 'It may not be connected yet.',
    )
  if (signer.address.toLowerCase() !== payer)
    throw new WrongWalletError('account', signer.address, payer)

  const answer = await ask(wallet, signer, payload).catch(throwWalletError)
  const signature = normalizeSignature(answer)
  if (!signature)
    throw new WalletError(undefined, answer === '0x' ? '0x' : typeof answer)
  return signature
}

type Signer = Pick<Account, 'address' | 'signTypedData'>

async function ask(
  wallet: Wallet,
  signer: Signer,
  payload: SigningPayload,
): Promise<unknown> {
  if (signer.signTypedData) return signer.signTypedData(payload as never)

  const chainId = Number(await wallet.request({ method: 'eth_chainId' }))
  if (chainId !== payload.domain.chainId)
    throw new WrongWalletError('chainId', chainId, payload.domain.chainId)
  return wallet.request(
    {
      method: 'eth_signTypedData_v4',
      params: [signer.address, toJson(payload)],
    },
    // Without this, viem would ask a user who closed the wallet three more
    // times.
    { retryCount: 0 },
  )
}

/**
 * Throws this library's error for a failure of the wallet. Searches nested
 * errors too, because the user's refusal may be wrapped in others.
 */
export function throwWalletError(error: unknown, depth = 0): never {
  if (error instanceof WrongWalletError) throw error
  if (isDeclined(error)) throw new SigningDeclinedError()
  const { code, cause, data } = Object(error)
  const inner = cause ?? Object(data).originalError
  if (inner && depth < 9) throwWalletError(inner, depth + 1)
  throw new WalletError(Number.isInteger(code) ? code : undefined)
}
