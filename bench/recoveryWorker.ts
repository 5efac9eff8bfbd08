import { parentPort } from 'node:worker_threads'
import type { SignedPayment } from 'countersign'

/** Recovers the payers of the payments it is sent; says when it is ready. */
async function start(): Promise<void> {
  const { hashPayment } = await import('countersign')
  const { loadAccelerator } = await import('countersign/accelerate')
  const { keccak256, recoverAddress } = await loadAccelerator()
  parentPort?.on('message', (payments: readonly SignedPayment[]) => {
    const found = payments.map(({ signature, ...payment }) =>
      recoverAddress({
        hash: hashPayment(payment, { keccak256 }),
        signature,
      }),
    )
    parentPort?.postMessage(found)
  })
  parentPort?.postMessage([])
}

start()
