import type { Account, Client, Hash, Hex, SignedAuthorization } from 'viem'
import { hashHex, type Keccak256, viemKeccak256 } from '../../core/keccak.js'
import { SigningDeclinedError } from '../sign/errors.js'
import { isDeclined } from '../sign/isDeclined.js'
import { SendError } from './errors.js'
import {
  type PlannedTransaction,
  parseLocalAccount,
} from './planTransaction.js'

/** A signed transaction. That of a capture contains the payment's signature. */
export type SignedTransaction = {
  hash: Hash
  /** The serialized transaction. Protect it like a credential. */
  raw: Hex
  /** Account nonce of the transaction. */
  nonce: number
}

/** A transaction that also changes the delegation of an account (EIP-7702). */
export type DelegatingTransaction = Omit<PlannedTransaction, 'type'> & {
  type: 'eip7702'
  authorizationList: readonly SignedAuthorization[]
}

/** Signs with a local account. Sends nothing. */
export async function signTransaction(
  client: Client,
  account: Account,
  transaction: PlannedTransaction | DelegatingTransaction,
  keccak256: Keccak256 = viemKeccak256,
): Promise<SignedTransaction> {
  const serializer = client.chain?.serializers?.transaction
  const local = parseLocalAccount(account)
  let raw: unknown
  try {
    raw = await local.signTransaction(
      transaction,
      serializer ? { serializer } : undefined,
    )
  } catch (error) {
    throw signerError(error)
  }
  // Checks the form first. viem's hash function puts bytes that it cannot parse
  // into its error, and so the payment's signature.
  if (typeof raw !== 'string' || !/^0x([\da-f]{2})+$/i.test(raw))
    throw new SendError({
      words: 'the signer gave no transaction',
      retryable: false,
      maybeSent: false,
    })
  return {
    hash: hashHex(raw as Hex, keccak256),
    raw: raw as Hex,
    nonce: transaction.nonce,
  }
}

/**
 * Keeps only the name of a signer's error. Its text may contain the
 * transaction, and so the payment's signature.
 */
export function signerError(error: unknown): SendError | SigningDeclinedError {
  if (isDeclined(error)) return new SigningDeclinedError()
  const { name } = Object(error)
  const kind = /^\w{1,40}$/.test(String(name)) ? name : typeof error
  const words = `the signer failed (${kind})`
  return new SendError({ words, retryable: true, maybeSent: false })
}
