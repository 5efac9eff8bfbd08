import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type ReadsNode = {
  url: string
  /** HTTP requests that carried calls, so far. */
  countRequests(): Promise<number>
  stop(): void
}

/** Starts the node of the reads in another process. */
export async function startReadsNode(): Promise<ReadsNode> {
  const child = fork(fileURLToPath(new URL('readsNode.ts', import.meta.url)))
  const [port] = await once(child, 'message')
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    countRequests: async () => Number(await (await fetch(url)).text()),
    stop: () => child.disconnect(),
  }
}
