import { wait } from '../../core/wait.js'
import { type AnswerRpc, asJson } from './devRpc.js'

/**
 * If `method` sends a transaction, waits until it is in a block. A node that
 * mines each transaction on arrival answers first and mines afterwards. Does
 * not wait while such mining is off.
 */
export async function waitUntilMined(
  method: string,
  request: AnswerRpc,
): Promise<void> {
  if (!/^eth_send(Raw|Unsigned)?Transaction$/.test(method)) return
  const { pending, queued } = await countPool(request)
  if (pending + queued === 0) return
  if ((await request('anvil_getAutomine', [])) !== true) return
  if (pending > 0) await closePool(request)
  if (queued > 0) await sendForgotten(request)
}

/**
 * Waits until a block is done that the node has begun to mine, for at most 200
 * requests. Returns how many transactions stay in the pool, for example because
 * they pay too little.
 */
export async function closePool(request: AnswerRpc): Promise<number> {
  let pending = await countPending(request)
  for (let looks = 0; pending > 0 && looks < 200; looks++) {
    await wait(1)
    pending = await countPending(request)
  }
  return pending
}

export async function countPending(request: AnswerRpc): Promise<number> {
  return (await countPool(request)).pending
}

async function countPool(
  request: AnswerRpc,
): Promise<{ pending: number; queued: number }> {
  const { pending, queued } = asJson(await request('txpool_status', []))
  return { pending: Number(pending), queued: Number(queued) }
}

/**
 * Works around a fault of anvil: if many transactions arrive in another order
 * than that of their nonces, one can wait forever for a nonce that is mined.
 * Sends it and the later ones of its sender again.
 */
async function sendForgotten(request: AnswerRpc): Promise<void> {
  const { queued } = asJson(await request('txpool_content', []))
  for (const [address, byNonce] of Object.entries(asJson(queued))) {
    const count = await request('eth_getTransactionCount', [address, 'latest'])
    const waiting = asJson(byNonce)
    if (!waiting[String(Number(count))]) continue
    const sent = await Promise.all(
      Object.values(waiting).map((transaction) =>
        request('eth_getRawTransactionByHash', [asJson(transaction).hash]),
      ),
    )
    await request('anvil_removePoolTransactions', [address])
    // Refused if another client has sent it meanwhile or it is mined. Both are
    // fine.
    for (const bytes of sent)
      await request('eth_sendRawTransaction', [bytes]).catch(() => undefined)
    await closePool(request)
  }
}
