import type { Account, Address, Client, Hash, Hex } from 'viem'
import { keccak256 } from 'viem'
import type { NodeFailure } from '../reads/errors.js'
import { readBytes, tryRequest } from '../reads/requestNode.js'
import type { CallFees } from '../reads/types.js'
import { SigningDeclinedError } from '../sign/errors.js'
import { AccountError, SendError } from './errors.js'
import { type PlannedTransaction, readLocalAccount } from './planTransaction.js'

/** A signed transaction, to be kept before it is sent. It holds a signature. */
export type SignedTransaction = {
  hash: Hash
  /** The serialized transaction; a credential like the payment in it. */
  raw: Hex
  /** Account nonce it uses. */
  nonce: number
}

/** Signs with a local account; nothing is sent. */
export async function signTransaction(
  client: Client,
  account: Account,
  transaction: PlannedTransaction,
): Promise<SignedTransaction> {
  const serializer = client.chain?.serializers?.transaction
  const { signTransaction } = readLocalAccount(account)
  const raw = await signTransaction(
    transaction,
    serializer ? { serializer } : undefined,
  ).catch((error: unknown) => {
    throw new SendError({ words: signerWords(error), retryable: true })
  })
  return { hash: keccak256(raw), raw, nonce: transaction.nonce }
}

/** The kind of a signer's failure; its words may quote the transaction. */
function signerWords(error: unknown): string {
  return `the signer failed (${error instanceof Error ? error.name : typeof error})`
}

/** Sends signed bytes. A node that has them already took them. */
export async function sendRaw(
  client: Client,
  { hash, raw }: SignedTransaction,
): Promise<Hash> {
  const { failure } = await tryRequest(client, 'eth_sendRawTransaction', [raw])
  if (failure && !isKnown(failure)) throw sendError(failure, hash)
  return hash
}

/** Has a JSON-RPC account's wallet or node sign and send, once. */
export async function sendFromWallet(
  client: Client,
  account: Account,
  transaction: WalletFields,
): Promise<Hash> {
  if (account.type !== 'json-rpc') throw new AccountError('can send')
  const method = 'eth_sendTransaction'
  const fields: Record<string, string> = { from: account.address }
  for (const [name, value] of Object.entries(transaction))
    if (value !== undefined)
      fields[name] =
        typeof value === 'string' ? value : `0x${value.toString(16)}`
  const { result, failure } = await tryRequest(client, method, [fields], {
    retryCount: 0,
  })
  if (failure?.code === 4001) throw new SigningDeclinedError()
  if (failure) throw sendError(failure, undefined)
  return readBytes(result, method)
}

/** What a wallet is told; what is missing it decides itself. */
type WalletFields = CallFees & {
  to: Address
  data: Hex
  chainId: number
  gas: bigint
  nonce?: number | undefined
}

export function isKnown({ words }: NodeFailure): boolean {
  return /already (known|imported|exists)|known transaction/i.test(words)
}

/** A refusal is final for these bytes; silence leaves it open. */
export function sendError(
  { code, words, status }: NodeFailure,
  transactionHash: Hash | undefined,
): SendError {
  const refused = code !== undefined && code !== -32603 && status === undefined
  return new SendError({ transactionHash, words, code, retryable: !refused })
}
