import type { Client, Hash } from 'viem'
import type { PlannedCapture } from './planCapture.js'
import { pickFees, planTransaction } from './planTransaction.js'
import { sendFromWallet, sendRaw, signTransaction } from './sendTransaction.js'

/** Sends a planned call: signed here, or by the wallet behind the client. */
export async function sendCall(
  client: Client,
  planned: PlannedCapture,
): Promise<Hash> {
  const { account, call, chainId, gas, options } = planned
  if (account.type === 'local')
    return sendRaw(
      client,
      await signTransaction(
        client,
        account,
        await planTransaction(client, planned),
      ),
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
