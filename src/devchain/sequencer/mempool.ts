import {
  type Address,
  type Hash,
  keccak256,
  parseTransaction,
  recoverTransactionAddress,
  type TransactionSerialized,
} from 'viem'
import {
  asJson,
  invalidParams,
  type Json,
  type NodeCall,
  RpcFault,
  toHash,
  toQuantity,
} from './devRpc.js'
import type { DevTransaction, Sequencer } from './sequencer.js'

/**
 * Accepts a signed transaction. Sends it to the node, which checks it, and then
 * removes it from the node's pool again. Until it is pre-confirmed, clients can
 * find it only by its hash.
 */
export async function submitRaw(
  sequencer: Sequencer,
  raw: unknown,
): Promise<Hash> {
  const send: NodeCall = ['eth_sendRawTransaction', [raw]]
  const read = await parseRaw(raw)
  const { node, lock } = sequencer
  return lock.exclusive(async () => {
    if (read) refuseUsed(sequencer, read)
    const hash = toHash(await node.request(...send))
    const pooled = await withdraw(sequencer, hash)
    if (!read) throw invalidParams('unsupported transaction')
    keep(sequencer, { ...read, pooled, send })
    return hash
  })
}

/**
 * Accepts an unsigned transaction. Its sender must be an account whose key the
 * node has, or for which the node sends without a key (impersonation).
 */
export async function submitUnsigned(
  sequencer: Sequencer,
  method: string,
  transaction: Json,
): Promise<Hash> {
  const { node, lock } = sequencer
  return lock.exclusive(async () => {
    const accounts = (await node.request('eth_accounts')) as Address[]
    const from = String(
      transaction.from ?? accounts[0],
    ).toLowerCase() as Address
    const nonce = Number(
      transaction.nonce ?? (await nextNonce(sequencer, from)),
    )
    const wanted = { ...transaction, from, nonce: toQuantity(nonce) }
    if (method === 'eth_sendTransaction') {
      // Fails for an account that the node sends for without a key.
      const raw = await node
        .request('eth_signTransaction', [wanted])
        .catch(() => undefined)
      const send: NodeCall = ['eth_sendRawTransaction', [raw]]
      if (raw) return take(sequencer, { from, nonce, first: send, send })
    }
    return take(sequencer, { from, nonce, first: [method, [wanted]] })
  })
}

async function nextNonce(
  { node, mempool }: Sequencer,
  from: Address,
): Promise<number> {
  const params = [from, 'pending']
  let next = Number(await node.request('eth_getTransactionCount', params))
  const nonces = mempool.filter((one) => one.from === from)
  while (nonces.some(({ nonce }) => nonce === next)) next++
  return next
}

async function take(
  sequencer: Sequencer,
  {
    from,
    nonce,
    first,
    send,
  }: {
    from: Address
    nonce: number
    first: NodeCall
    send?: NodeCall | undefined
  },
): Promise<Hash> {
  const { node } = sequencer
  const hash = toHash(await node.request(...first))
  const found = await withdraw(sequencer, hash)
  const maxFee = BigInt(String(found.maxFeePerGas ?? found.gasPrice ?? 0))
  // All fields are set, so that the transaction has the same hash when it is
  // sent again.
  const again: NodeCall = ['eth_sendUnsignedTransaction', [pickFields(found)]]
  const sent = send ?? again
  keep(sequencer, { hash, from, nonce, maxFee, pooled: found, send: sent })
  return hash
}

async function withdraw({ node }: Sequencer, hash: Hash): Promise<Json> {
  const found = asJson(await node.request('eth_getTransactionByHash', [hash]))
  await node.request('anvil_dropTransaction', [hash])
  return found
}

function pickFields(transaction: Json): Json {
  const { from, to, value, gas, input, nonce, type } = transaction
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice } = transaction
  const fees = maxFeePerGas
    ? { maxFeePerGas, maxPriorityFeePerGas }
    : { gasPrice }
  const { accessList, authorizationList } = transaction
  return {
    from,
    value,
    gas,
    input,
    nonce,
    type,
    ...fees,
    ...(to ? { to } : {}),
    ...(accessList ? { accessList } : {}),
    ...(authorizationList ? { authorizationList } : {}),
  }
}

/**
 * Adds a transaction to the mempool. Replaces one with the same sender and
 * account nonce.
 */
function keep(sequencer: Sequencer, transaction: DevTransaction): void {
  const { from, nonce } = transaction
  const others = sequencer.mempool.filter(
    (one) => one.from !== from || one.nonce !== nonce,
  )
  sequencer.mempool = [...others, transaction]
}

export async function parseRaw(
  raw: unknown,
): Promise<Omit<DevTransaction, 'send' | 'pooled'> | undefined> {
  try {
    const serializedTransaction = raw as TransactionSerialized
    const parsed = parseTransaction(serializedTransaction)
    const from = await recoverTransactionAddress({ serializedTransaction })
    return {
      hash: keccak256(serializedTransaction),
      from: from.toLowerCase() as Address,
      nonce: parsed.nonce ?? 0,
      maxFee: parsed.maxFeePerGas ?? parsed.gasPrice ?? 0n,
    }
  } catch {
    // The transaction is malformed. The node gives the error when it gets it.
    return undefined
  }
}

/**
 * Refuses transactions that are already known, use an account nonce again, or
 * replace another one with too low a fee. The node cannot refuse them, because
 * its pool no longer has the earlier transactions.
 */
function refuseUsed(
  { included, mempool }: Sequencer,
  { hash, from, nonce, maxFee }: Omit<DevTransaction, 'send' | 'pooled'>,
): void {
  const isSame = (one: DevTransaction) =>
    one.from === from && one.nonce === nonce
  const known = [...included, ...mempool].some((one) => one.hash === hash)
  if (known) throw refused('transaction already imported')
  if (included.some(isSame)) throw refused('nonce too low')
  const waiting = mempool.find(isSame)
  if (waiting && maxFee * 10n < waiting.maxFee * 11n)
    throw refused('replacement transaction underpriced')
}

function refused(message: string): RpcFault {
  return new RpcFault({ code: -32003, message })
}
