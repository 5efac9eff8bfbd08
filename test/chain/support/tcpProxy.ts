import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export type TcpProxy = {
  url: string
  /** Forwards nothing more over what is open, and closes nothing. */
  freeze(): void
  /** As `freeze`, but only answers are lost. */
  freezeBack(): void
  /** Takes new connections from now on, and forwards nothing over them. */
  mute(isMute: boolean): void
  /** Closes what is open, and takes nothing new until `open`. */
  shut(): Promise<void>
  open(): Promise<void>
  /** Connections so far. */
  count(): number
}

/** A TCP proxy in front of a WebSocket endpoint, as long as the test. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const pairs = new Set<readonly [Socket, Socket]>()
  let count = 0
  let isMuted = false
  const server = createServer((near) => {
    count++
    const far = connect(Number(targetPort), hostname)
    const pair = [near, far] as const
    pairs.add(pair)
    if (!isMuted) near.pipe(far).pipe(near)
    for (const one of pair) one.on('error', () => one.destroy())
  })
  const listen = (port: number) =>
    new Promise<void>((ready) => server.listen(port, '127.0.0.1', ready))
  const close = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
    pairs.clear()
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    close()
    server.close()
  })
  return {
    url: `ws://127.0.0.1:${port}`,
    freeze: () => {
      for (const [near, far] of pairs) {
        near.unpipe(far)
        far.unpipe(near)
      }
    },
    freezeBack: () => {
      for (const [near, far] of pairs) far.unpipe(near)
    },
    mute: (isMute) => {
      isMuted = isMute
    },
    shut: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      close()
      await closed
    },
    open: () => listen(port),
    count: () => count,
  }
}
