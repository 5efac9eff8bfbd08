import type { Account, Address, Hex } from 'viem'
import { checkSignal } from '../../core/checkSignal.js'
import { InvalidFieldError } from '../../core/errors.js'
import { endOnAbort } from '../../core/onAbort.js'
import { normalizeSignature } from '../../core/signature.js'
import { toJson } from '../../core/toJson.js'
import { inTime } from '../../core/wait.js'
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
 * tokens accept. Throws the signal's reason when it aborts.
 */
export async function signWithWallet(
  wallet: Wallet,
  payload: SigningPayload,
  payer: Address,
  signal?: AbortSignal | undefined,
): Promise<Hex> {
  const { account, request }: Partial<Wallet> = Object(wallet)
  const signer: Partial<Signer> =
    typeof account === 'string' ? { address: account } : Object(account)
  if (!signer.signTypedData && typeof request !== 'function')
    throw new InvalidFieldError(
      'wallet',
      wallet,
      'a viem wallet client or an EIP-1193 provider',
      wallet ? undefined : 'It may not be connected yet.',
    )
  const { address = payer } = signer
  if (address.toLowerCase() !== payer)
    throw new WrongWalletError('account', address, payer)

  const answer = await askWallet(async () => {
    if (signer.signTypedData) return signer.signTypedData(payload as never)
    const { chainId } = payload.domain
    const found = Number(await wallet.request({ method: 'eth_chainId' }))
    if (found !== chainId) throw new WrongWalletError('chainId', found, chainId)
    const sign = async (named: Address): Promise<unknown> => {
      // Does not open the wallet for a page that no longer waits.
      signal?.throwIfAborted()
      const params = [named, toJson(payload)]
      return wallet.request({ method: 'eth_signTypedData_v4', params }, once)
    }
    return sign(address).catch(async (error: unknown) => {
      if (signer.address || findDecline(error)) throw error
      const named = await nameAccount(wallet, payer)
      if (named === payer) throw error
      return sign(named)
    })
  }, signal)
  const signature = normalizeSignature(answer)
  if (!signature)
    throw new WalletError(undefined, answer === '0x' ? '0x' : typeof answer)
  return signature
}

type Signer = Pick<Account, 'address' | 'signTypedData'>

/**
 * Without this, viem would ask a user who closed the wallet three more times.
 */
export const once = { retryCount: 0 } as const

/** Milliseconds that a provider has to name its accounts: it asks nobody. */
const namingTime = 3_000

/**
 * Returns the payer's account as the provider spells it, because some wallets
 * find an account in their own spelling only.
 */
async function nameAccount(wallet: Wallet, payer: Address): Promise<Address> {
  try {
    const asked = wallet.request({ method: 'eth_accounts' }, once)
    const accounts = await inTime(
      Promise.resolve(asked),
      namingTime,
      () => undefined,
    )
    for (const account of Array.isArray(accounts) ? accounts : [])
      if (typeof account === 'string' && account.toLowerCase() === payer)
        return account as Address
  } catch {
    // The wallet may sign all the same.
  }
  return payer
}

/**
 * Asks a wallet, and waits until it answers or the signal aborts. A wallet
 * cannot be told to stop: its late answer is dropped.
 *
 * @throws the reason of `signal` when that aborts, else this library's error
 * for a failure of the wallet.
 */
export async function askWallet<answer>(
  ask: () => Promise<answer>,
  signal: AbortSignal | undefined,
): Promise<answer> {
  checkSignal(signal)
  signal?.throwIfAborted()
  return endOnAbort(ask().catch(throwWalletError), signal)
}

/** Searches nested errors too: others may wrap the user's refusal. */
function findDecline(error: unknown, depth = 0): boolean {
  if (isDeclined(error)) return true
  const inner = innerOf(error)
  return Boolean(inner) && depth < 9 && findDecline(inner, depth + 1)
}

function innerOf(error: unknown): unknown {
  const { cause, data } = Object(error)
  return cause ?? Object(data).originalError
}

function throwWalletError(error: unknown, depth = 0): never {
  if (error instanceof WrongWalletError) throw error
  if (findDecline(error)) throw new SigningDeclinedError()
  const inner = innerOf(error)
  if (inner && depth < 9) throwWalletError(inner, depth + 1)
  const { code } = Object(error)
  const known = Number.isInteger(code) ? code : undefined
  throw new WalletError(known, undefined, error)
}
