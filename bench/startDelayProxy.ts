import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export type DelayProxy = {
  url: string
  /** HTTP requests that came in so far. */
  countRequests(): Promise<number>
  stop(): void
}

/**
 * Starts a proxy that delays each request, in a process of its own: hundreds at
 * a time would else be work of the process that is measured.
 */
export async function startDelayProxy(
  target: string,
  milliseconds: number,
): Promise<DelayProxy> {
  const script = fileURLToPath(new URL('delayProxy.ts', import.meta.url))
  const child = fork(script, [target, String(milliseconds)])
  const [port] = await once(child, 'message')
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    countRequests: async () => Number(await (await fetch(url)).text()),
    stop: () => child.disconnect(),
  }
}
