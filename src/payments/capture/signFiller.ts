import type { Account, Client } from 'viem'
import type { Keccak256 } from '../../core/keccak.js'
import type { DecidedFees } from './planTransaction.js'
import { type SignedTransaction, signTransaction } from './signTransaction.js'

export type SignReleaseParameters = {
  /** The account nonce to fill. */
  nonce: number
  chainId: number
  fees: DecidedFees
  /**
   * Gas limit. Raise it for an account with code (EIP-7702), and on rollups
   * that charge the data fee in gas. @default 21_000n
   */
  gas?: bigint | undefined
}

/**
 * Signs an empty transfer from an account to itself. It uses up an account
 * nonce, so that later transactions can be mined. Does not use the network.
 *
 * Another transaction with this nonce can still be mined instead.
 *
 * @throws {@link AccountError} when the account cannot sign here.
 * @throws {@link SendError} when the signer fails.
 * @throws {@link SigningDeclinedError} when the signer declines.
 */
export function signFiller(
  client: Client,
  account: Account,
  { nonce, chainId, fees, gas = 21_000n }: SignReleaseParameters,
  keccak256?: Keccak256,
): Promise<SignedTransaction> {
  const to = account.address
  const transaction = { to, data: '0x', chainId, nonce, gas, ...fees } as const
  return signTransaction(client, account, transaction, keccak256)
}
