import type { Account, Address, Client, Hash, Hex } from 'viem'
import { isOfGateway } from '../../chain/rpc/classifyFailure.js'
import { getChainId, tryRequest } from '../../chain/rpc/requestNode.js'
import type { NodeFailure } from '../../chain/rpc/types.js'
import { encodeMembers } from '../../chain/state/executor.js'
import type { CallFees } from '../../chain/state/types.js'
import { SigningDeclinedError, WrongWalletError } from '../sign/errors.js'
import { isDeclined } from '../sign/isDeclined.js'
import { classifySendFailure, type SendStatus } from './classifySendFailure.js'
import { AccountError, SendError } from './errors.js'
import type { SignedTransaction } from './signTransaction.js'

/** A signed transaction, to be sent once. */
type SentOnce = Pick<SignedTransaction, 'hash' | 'raw'> & {
  /**
   * The account nonce, if the caller chose it. Without it, each send takes the
   * next nonce of the account.
   */
  givenNonce: number | undefined
}

/**
 * Sends a signed transaction once. Counts as success if the node already has
 * it.
 */
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
 * Called when the node says that the account nonce is used. True if the reason
 * is this transaction itself: an earlier try, or another endpoint of a fallback
 * transport, has already sent it.
 */
async function isMined(
  client: Client,
  failure: NodeFailure,
  hash: Hash,
): Promise<boolean> {
  if (classifySendFailure(failure) !== 'nonceTooLow') return false
  const { result } = await tryRequest(client, 'eth_getTransactionByHash', [
    hash,
  ])
  return Boolean(result)
}

/** Asks a wallet or node that holds the key to sign and send, once. */
export async function sendFromWallet(
  client: Client,
  account: Account,
  transaction: WalletFields,
): Promise<Hash> {
  if (account.type !== 'json-rpc') throw new AccountError('send')
  await requireChain(client, transaction.chainId)
  const method = 'eth_sendTransaction'
  const { delegating, ...members } = transaction
  const fields = {
    ...encodeMembers({ from: account.address, ...members }),
    ...delegating,
  }
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
 * Throws if the wallet is on another chain. There the transaction would fail,
 * and would publish the payment's signature.
 */
async function requireChain(client: Client, chainId: number): Promise<void> {
  const found = await getChainId(client)
  if (found !== chainId) throw new WrongWalletError('chainId', found, chainId)
}

/**
 * The fields that are passed to a wallet. The wallet chooses the others itself.
 */
type WalletFields = CallFees & {
  to: Address
  data: Hex
  chainId: number
  gas: bigint
  nonce?: number | undefined
  /** Members that change an account's delegation, as JSON-RPC has them. */
  delegating?: object | undefined
}

/** True when the node says that it already has the transaction. */
export function isKnown(failure: NodeFailure): boolean {
  return classifySendFailure(failure) === 'known'
}

/** Another transaction has the account nonce. */
const taken: readonly SendStatus[] = ['nonceTooLow', 'replacementUnderpriced']

/**
 * The node takes no transaction now that it would take later: the account gets
 * funds, the base fee falls, or its pool has room again.
 */
const later: readonly SendStatus[] = [
  'underpriced',
  'poolFull',
  'insufficientFunds',
]

/**
 * Builds the error of a failed send, and decides its `maybeSent` and
 * `retryable`. Without a clear answer, the transaction may have been sent. Then
 * only signed bytes may be sent again, because a wallet would sign a second
 * transaction. If another transaction has the account nonce, a retry helps only
 * with a new nonce.
 */
function sendError(
  failure: NodeFailure,
  {
    transactionHash,
    givenNonce,
  }: { transactionHash?: Hash; givenNonce: number | undefined },
): SendError {
  const { code, words } = failure
  const status = classifySendFailure(failure)
  const maybeSent = status === 'unclear' || isOfGateway(failure)
  const isTaken = givenNonce === undefined && taken.includes(status)
  const retryable = maybeSent
    ? transactionHash !== undefined
    : isTaken || later.includes(status)
  return new SendError({ transactionHash, words, code, retryable, maybeSent })
}
