import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Address } from 'viem'
import type { Shop } from './openOrders.js'

export type Worker = {
  name: string
  /** Captures it sent, by recipient. */
  sent: ReadonlyMap<Address, number>
  /** Tells it to stop, and waits until it has. */
  stop(): Promise<void>
}

/** Starts a worker process for a shop. */
export function startWorker(name: string, shop: Shop): Worker {
  const program = fileURLToPath(new URL('worker.ts', import.meta.url))
  const child = fork(program, { execArgv: ['--import', 'tsx'] })
  const ended = once(child, 'exit')
  const sent = new Map<Address, number>()
  child.on('message', (report: { account: Address; sent: number }) => {
    const { account } = report
    sent.set(account, (sent.get(account) ?? 0) + report.sent)
    const what = report.sent === 1 ? 'capture' : 'captures'
    console.log(`${name} sends ${report.sent} ${what} for ${short(account)}`)
  })
  // The keys travel over a pipe: arguments are seen by every process.
  child.send(shop)
  console.log(`${name} is process ${child.pid}`)
  const stop = async () => {
    child.kill('SIGTERM')
    const [code, signal] = await ended
    console.log(`${name} has stopped: ${signal ?? `exit code ${code}`}`)
  }
  let stopped: Promise<void> | undefined
  return {
    name,
    sent,
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

export function short(address: Address): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`.toLowerCase()
}
