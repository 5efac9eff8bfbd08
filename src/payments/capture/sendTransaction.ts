import type { Account, Address, Client, Hash, Hex } from 'viem'
import { isTemporary } from '../../chain/rpc/classifyFailure.js'
import { getChainId, tryRequest } from '../../chain/rpc/requestNode.js'
import type { NodeFailure } from '../../chain/rpc/types.js'
import { encodeMembers } from '../../chain/state/executor.js'
import type { CallFees } from '../../chain/state/types.js'
import { SigningDeclinedError, WrongWalletError } from '../sign/errors.js'
import { isDeclined } from '../sign/isDeclined.js'
import { AccountError, SendError } from './errors.js'
import type { SignedTransaction } from './signTransaction.js'

/** A signed transaction to send once. */
type SentOnce = Pick<SignedTransaction, 'hash' | 'raw'> & {
  /**
   * The account nonce, if the caller chose it. Without it, each send takes the
   * account's next nonce.
   */
  givenNonce: number | undefined
}

/** Sends signed bytes once. Succeeds if the node already has them. */
export async function sendRaw(
  client: Client,
  { hash, raw, givenNonce }: SentOnce,
): Promise<Hash> {
  const { failure } = await tryRequest(
    client,
    'eth_sendRawTransaction',
    [raw],
    { retryCount: 0 },
  )
  if (!failure || isKnown(failure) || (await isMined(client, failure, hash)))
    return hash
  throw sendError(failure, { transactionHash: hash, givenNonce })
}

/**
 * True when the nonce is too low because the node already has this transaction:
 * an earlier try, or another endpoint of a fallback transport, sent the same
 * bytes.
 */
async function isMined(
  client: Client,
  { words }: NodeFailure,
  hash: Hash,
): Promise<boolean> {
  if (!nonceTooLow.test(words)) return false
  const { result } = await tryRequest(client, 'eth_getTransactionByHash', [
    hash,
  ])
  return Boolean(result)
}

/** Asks the wallet or node of a JSON-RPC account to sign and send, once. */
export async function sendFromWallet(
  client: Client,
  account: Account,
  transaction: WalletFields,
): Promise<Hash> {
  if (account.type !== 'json-rpc') throw new AccountError('send')
  await requireChain(client, transaction.chainId)
  const method = 'eth_sendTransaction'
  const fields = encodeMembers({ from: account.address, ...transaction })
  const { result, failure } = await tryRequest(client, method, [fields], {
    retryCount: 0,
  })
  if (failure && isDeclined({ code: failure.code, message: failure.words }))
    throw new SigningDeclinedError()
  const { nonce: givenNonce } = transaction
  if (failure) throw sendError(failure, { givenNonce })
  if (typeof result === 'string' && /^0x[\da-f]{64}$/i.test(result))
    return result as Hash
  throw sendError({ words: 'the wallet gave no hash' }, { givenNonce })
}

/**
 * Throws if the wallet is on another chain, where the transaction would fail
 * and publish the payment's signature.
 */
async function requireChain(client: Client, chainId: number): Promise<void> {
  const found = await getChainId(client)
  if (found !== chainId) throw new WrongWalletError('chainId', found, chainId)
}

/** The fields we pass to a wallet. It chooses the missing ones itself. */
type WalletFields = CallFees & {
  to: Address
  data: Hex
  chainId: number
  gas: bigint
  nonce?: number | undefined
}

/**
 * True when the node already has the transaction: texts of Geth, Nethermind,
 * Besu and anvil.
 */
export function isKnown({ words }: NodeFailure): boolean {
  return /already ?(known|imported)|\bknown transaction|already in (the )?(mem)?pool/i.test(
    words,
  )
}

const nonceTooLow = /nonce (is )?too low|old ?nonce/i

/** True when another transaction of the account has the nonce. */
function isNonceTaken({ words }: NodeFailure): boolean {
  return nonceTooLow.test(words) || /replacement .*underpriced/i.test(words)
}

/**
 * Decides `maybeSent` and `retryable`. Without a clear answer, the transaction
 * may have been sent. Then only signed bytes are safe to send again, because a
 * wallet would sign a second transaction. If another transaction has the nonce,
 * a retry helps only if it draws a new nonce.
 */
function sendError(
  failure: NodeFailure,
  {
    transactionHash,
    givenNonce,
  }: { transactionHash?: Hash; givenNonce: number | undefined },
): SendError {
  const { code, words } = failure
  const maybeSent = isTemporary(failure)
  const retryable = maybeSent
    ? transactionHash !== undefined
    : givenNonce === undefined && isNonceTaken(failure)
  return new SendError({ transactionHash, words, code, retryable, maybeSent })
}
