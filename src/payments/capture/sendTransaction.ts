import type { Account, Address, Client, Hash, Hex } from 'viem'
import { isPassing, type NodeFailure } from '../../chain/rpc/errors.js'
import { getChainId, tryRequest } from '../../chain/rpc/requestNode.js'
import { encodeMembers } from '../../chain/state/executor.js'
import type { CallFees } from '../../chain/state/types.js'
import { SigningDeclinedError, WrongWalletError } from '../sign/errors.js'
import { AccountError, SendError } from './errors.js'
import type { SignedTransaction } from './signTransaction.js'

/** Sends signed bytes once. A node that has them already took them. */
export async function sendRaw(
  client: Client,
  { hash, raw }: SignedTransaction,
): Promise<Hash> {
  const { failure } = await tryRequest(
    client,
    'eth_sendRawTransaction',
    [raw],
    { retryCount: 0 },
  )
  if (!failure || isKnown(failure) || (await isMined(client, failure, hash)))
    return hash
  throw sendError(failure, hash)
}

/** These very bytes may have used the nonce: sent before, or by a fallback. */
async function isMined(
  client: Client,
  { words }: NodeFailure,
  hash: Hash,
): Promise<boolean> {
  if (!/nonce (is )?too low|old nonce/i.test(words)) return false
  const { result } = await tryRequest(client, 'eth_getTransactionByHash', [
    hash,
  ])
  return Boolean(result)
}

/** Has a JSON-RPC account's wallet or node sign and send, once. */
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
  if (failure?.code === 4001) throw new SigningDeclinedError()
  if (failure) throw sendError(failure, undefined)
  if (typeof result === 'string' && /^0x[\da-f]{64}$/i.test(result))
    return result as Hash
  throw sendError({ words: 'the wallet gave no hash' }, undefined)
}

/** Elsewhere the call would do nothing but show the signature to everyone. */
async function requireChain(client: Client, chainId: number): Promise<void> {
  const found = await getChainId(client)
  if (found !== chainId) throw new WrongWalletError('chainId', found, chainId)
}

/** The fields a wallet is given. It chooses the missing ones itself. */
type WalletFields = CallFees & {
  to: Address
  data: Hex
  chainId: number
  gas: bigint
  nonce?: number | undefined
}

/** Geth, Nethermind, Besu and anvil each say it in their own way. */
export function isKnown({ words }: NodeFailure): boolean {
  return /already ?(known|imported)|\bknown transaction|already in (the )?(mem)?pool/i.test(
    words,
  )
}

/**
 * A refusal is final for these bytes; silence leaves it open. The same bytes
 * can be sent again, but a wallet asked again would sign another transaction.
 */
function sendError(
  failure: NodeFailure,
  transactionHash: Hash | undefined,
): SendError {
  const { code, words } = failure
  const maybeSent = isPassing(failure)
  const retryable = maybeSent && transactionHash !== undefined
  return new SendError({ transactionHash, words, code, retryable, maybeSent })
}
