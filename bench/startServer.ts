import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { FilledShop } from './ordersMillionFill.js'

/** A server in its own process that counts its requests. */
export type BenchServer = {
  url: string
  /** HTTP requests with calls so far. */
  countRequests(): Promise<number>
  stop(): void
}

/**
 * Starts a proxy that delays each request. Runs in its own process, so that its
 * work does not count as work of the measured process.
 */
export function startDelayProxy(
  target: string,
  milliseconds: number,
): Promise<BenchServer> {
  return startServer('delayProxy.ts', [target, String(milliseconds)])
}

/** Starts the node of the reads in its own process. */
export function startReadsNode(): Promise<BenchServer> {
  return startServer('readsNode.ts', [])
}

/**
 * Starts a node that shows the transfers of a filled database besides those of
 * its chain.
 */
export function startMillionNode(
  target: string,
  { token, recipient, orders, open, perBlock }: FilledShop,
): Promise<BenchServer> {
  const settled = String(orders - open)
  const told = [target, token, recipient, settled, String(perBlock)]
  return startServer('ordersMillionNode.ts', told)
}

async function startServer(
  file: string,
  parameters: readonly string[],
): Promise<BenchServer> {
  const script = fileURLToPath(new URL(file, import.meta.url))
  const child = fork(script, parameters)
  const [port] = await once(child, 'message')
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    countRequests: async () => Number(await (await fetch(url)).text()),
    stop: () => {
      // One that crashed has left: what it broke is told, not this.
      if (child.connected) child.disconnect()
    },
  }
}
