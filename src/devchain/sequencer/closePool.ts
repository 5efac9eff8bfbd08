import { wait } from '../../core/wait.js'
import { type AnswerRpc, asJson } from './devRpc.js'

/**
 * If `method` sends a transaction, waits until a block has it: a node that
 * mines on arrival answers first and mines afterwards. Does not wait if mining
 * on arrival is off.
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
 * Waits until the node has finished the block that it is mining, for at most
 * 200 requests. Returns how many transactions stay in the pool, for example
 * because their fee is too low.
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
 * Works around a fault of anvil. If many transactions arrive in another order
 * than that of their nonces, one can wait forever, although the nonce before it
 * is mined. Sends it and the sender's later ones again.
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
    // The node refuses a transaction that another client has sent meanwhile, or
    // that is mined. Neither needs handling.
    for (const bytes of sent)
      await request('eth_sendRawTransaction', [bytes]).catch(() => undefined)
    await closePool(request)
  }
}
