import type { Account, Address, Hex, LocalAccount } from 'viem'
import { normalizeSignature } from '../base/signature.js'
import { toJson } from '../base/toJson.js'
import type { Cancellation, Payment } from '../base/types.js'
import { addTypes } from '../build/paymentTypedData.js'
import {
  SigningDeclinedError,
  WalletError,
  WrongWalletError,
} from './errors.js'

/**
 * A viem client with an account, or an EIP-1193 provider, which then signs
 * with the payer's account.
 */
export type Wallet = {
  // biome-ignore lint/suspicious/noExplicitAny: viem's and each wallet's request differ in their parameter type only
  request(args: any): Promise<unknown>
  account?: Account | Address | undefined
}

/** Has a wallet sign, and brings the answer into the form tokens accept. */
export async function askWallet(
  wallet: Wallet,
  payment: Payment | Cancellation,
  payer: Address,
): Promise<Hex> {
  const { account = payer } = wallet
  const address = typeof account === 'string' ? account : account.address
  if (address.toLowerCase() !== payer)
    throw new WrongWalletError('account', address, payer)

  const answer = await (isLocal(account)
    ? signLocally(account, payment)
    : signRemotely(wallet, payment, address))
  const signature = normalizeSignature(answer)
  if (!signature) throw new WalletError()
  return signature
}

function isLocal(account: Account | Address): account is LocalAccount {
  return typeof account !== 'string' && 'signTypedData' in account
}

async function signLocally(
  account: LocalAccount,
  payment: Payment | Cancellation,
): Promise<unknown> {
  try {
    return await account.signTypedData(addTypes(payment) as never)
  } catch (error) {
    throw walletError(error)
  }
}

async function signRemotely(
  wallet: Wallet,
  payment: Payment | Cancellation,
  address: Address,
): Promise<unknown> {
  try {
    const chainId = Number(await wallet.request({ method: 'eth_chainId' }))
    if (chainId !== payment.domain.chainId)
      throw new WrongWalletError('chainId', chainId, payment.domain.chainId)
    return await wallet.request({
      method: 'eth_signTypedData_v4',
      params: [address, toJson(addTypes(payment))],
    })
  } catch (error) {
    throw error instanceof WrongWalletError ? error : walletError(error)
  }
}

/** EIP-1193's 4001 or WalletConnect's 5000, however deep the wallet's library wrapped it. */
function walletError(error: unknown): SigningDeclinedError | WalletError {
  const { code, cause } = Object(error)
  if (code === 4001 || code === 5000) return new SigningDeclinedError()
  return cause ? walletError(cause) : new WalletError(code)
}
