import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Place } from './openShop.js'
import type { Hash } from './types.js'

/** What a worker process is told to do. */
export type CaptureJob = {
  place: Place
  orderId: string
  /** Right after the node took the transaction, before its answer is seen. */
  dies: boolean
}

/** Has a process of its own capture an order; tells how it went and ended. */
export async function runCapture(job: CaptureJob): Promise<{
  pid: number | undefined
  hash: Hash | undefined
  signal: NodeJS.Signals | null
}> {
  const program = fileURLToPath(new URL('captureWorker.ts', import.meta.url))
  const child = fork(program, { execArgv: ['--import', 'tsx'] })
  let hash: Hash | undefined
  child.on('message', (answer: { hash: Hash }) => {
    hash = answer.hash
  })
  // The keys travel over a pipe: arguments are seen by every process.
  child.send(job)
  const [, signal] = await once(child, 'exit')
  return { pid: child.pid, hash, signal }
}
