import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { loadPeer, notLoaded } from '../../core/peers.js'
import { WebSocketPackageNotFoundError } from './errors.js'

/**
 * The part of a WebSocket of the package `ws` that the development chain uses.
 */
export type DevSocket = {
  readonly readyState: number
  on(event: 'message', listener: (data: { toString(): string }) => void): void
  on(event: 'open' | 'close', listener: () => void): void
  on(event: 'error', listener: (error: Error) => void): void
  send(text: string): void
  terminate(): void
}

type WebSockets = {
  WebSocket: new (url: string) => DevSocket
  WebSocketServer: new (options: {
    noServer: true
  }) => {
    handleUpgrade(
      request: IncomingMessage,
      socket: Duplex,
      head: Buffer,
      done: (socket: DevSocket) => void,
    ): void
  }
}

/**
 * Loads the optional peer `ws`. viem depends on it, so it usually is installed.
 *
 * @throws {@link WebSocketPackageNotFoundError} when it is missing or too old.
 */
export async function loadWebSockets(): Promise<WebSockets> {
  // Declared as `string`, so that the compiler does not look for types of `ws`,
  // which has none.
  const name: string = 'ws'
  return loadPeer(
    { name, from: '8.18.0' },
    import(name).catch(notLoaded),
    (problem) => new WebSocketPackageNotFoundError(problem),
  )
}
