import type { Hash } from 'viem'
import { invalidParams, type Json, RpcFault } from '../sequencer/devRpc.js'
import { submitRaw } from '../sequencer/mempool.js'
import type { Sequencer } from '../sequencer/sequencer.js'

/**
 * Milliseconds that Base waits for a receipt. The default and the highest
 * value.
 */
const maxWait = 6_000

/**
 * Sends a transaction and waits for its receipt (`eth_sendRawTransactionSync`,
 * EIP-7966). A receipt from a pre-confirmation is enough.
 */
export async function sendRawSync(
  sequencer: Sequencer,
  [raw, timeout]: readonly unknown[],
): Promise<unknown> {
  const ms = timeout === undefined ? maxWait : Number(timeout)
  if (!Number.isInteger(ms) || ms < 0) throw invalidParams('invalid timeout')
  if (ms > maxWait)
    throw invalidParams(
      `time out too long, timeout: ${ms} ms, max: ${maxWait} ms`,
    )
  const hash = await submitRaw(sequencer, raw)
  return waitForReceipt(sequencer, hash, ms)
}

function waitForReceipt(
  { waiters }: Sequencer,
  hash: Hash,
  ms: number,
): Promise<Json> {
  return new Promise((resolve, reject) => {
    const waiting = waiters.get(hash) ?? new Set()
    const settle = (receipt: Json) => {
      clearTimeout(timer)
      resolve(receipt)
    }
    const timer = setTimeout(() => {
      waiting.delete(settle)
      const message = `The transaction was added to the mempool but wasn't processed within ${ms} ms.`
      reject(new RpcFault({ code: 4, message, data: hash }))
    }, ms)
    timer.unref()
    waiters.set(hash, waiting.add(settle))
  })
}
