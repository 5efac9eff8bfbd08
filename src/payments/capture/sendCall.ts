import type { Client, Hash } from 'viem'
import type { PlannedCapture } from './planCapture.js'
import { pickFees, planTransaction } from './planTransaction.js'
import { sendFromWallet, sendRaw } from './sendTransaction.js'
import { type SignedTransaction, signTransaction } from './signTransaction.js'

/**
 * Sends a planned call. A local account signs it here; for another account, the
 * client's wallet signs and sends it.
 */
export async function sendCall(
  client: Client,
  planned: PlannedCapture,
): Promise<Hash> {
  const { account, call, chainId, gas, options } = planned
  if (account.type === 'local')
    return signAndSend(client, planned, ({ hash, raw }) =>
      sendRaw(client, { hash, raw, givenNonce: options.nonce }),
    )
  return sendFromWallet(client, account, {
    to: call.to,
    data: call.data,
    chainId,
    gas,
    nonce: options.nonce,
    ...pickFees(options),
  })
}

export async function signCall(
  client: Client,
  planned: PlannedCapture,
): Promise<SignedTransaction> {
  return signAndSend(client, planned, async (signed) => signed)
}

/**
 * Signs a transaction and passes it to `send`. If a step fails, resets viem's
 * nonce manager: the unused nonce would otherwise block all later transactions.
 */
export async function signAndSend<result>(
  client: Client,
  planned: PlannedCapture,
  send: (signed: SignedTransaction) => Promise<result>,
): Promise<result> {
  const { account, chainId, options } = planned
  try {
    const transaction = await planTransaction(client, planned)
    return await send(await signTransaction(client, account, transaction))
  } catch (error) {
    if (account.type === 'local' && options.nonce === undefined)
      account.nonceManager?.reset({ address: account.address, chainId })
    throw error
  }
}
