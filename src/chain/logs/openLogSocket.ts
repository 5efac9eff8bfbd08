import { webSocket } from 'viem'
import { growingPause } from '../../core/keepTrying.js'
import { onAbort } from '../../core/onAbort.js'
import { inTime, soon, wait } from '../../core/wait.js'
import { NodeError, parseFailure } from '../rpc/errors.js'
import type { WireFilter } from './encodeLogFilter.js'
import { parseRpcLog } from './parseRpcLog.js'
import type { ReadLog } from './types.js'

export type LogSocketHandlers = {
  /**
   * Called for each log of a pre-confirmed transaction, if the network has
   * them.
   */
  onPending(log: ReadLog): void
  /** Called for each new block. */
  onHead(): void
  /** Called when the connection is open, also after a reconnection. */
  onOpen(): void
  /** Called when the connection was lost. The socket reconnects by itself. */
  onLost(): void
  onError(error: unknown): void
}

/** Most milliseconds to connect, and to subscribe. */
const patience = 10_000

/** Milliseconds between two attempts to connect. */
const pauses = { shortest: 100, longest: 10_000 }

/**
 * Milliseconds between two requests that test whether the node still answers.
 */
const silence = 15_000

/**
 * Keeps one WebSocket open, and calls the handlers for each message of the
 * node. Reconnects with a growing pause. Returns a function that closes it.
 */
export function openLogSocket(
  url: string,
  wire: WireFilter,
  handlers: LogSocketHandlers,
): () => void {
  const stop = new AbortController()
  const { signal } = stop
  let failures = 0
  const onHead = () => {
    if (signal.aborted) return
    failures = 0
    handlers.onHead()
  }
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      try {
        await follow(url, wire, { handlers: { ...handlers, onHead }, signal })
      } catch (error) {
        const failure = parseFailure(error, { url })
        if (!signal.aborted)
          handlers.onError(new NodeError({ method: 'eth_subscribe', failure }))
      }
      await wait(growingPause(++failures, pauses), signal)
    }
  }
  void run()
  return () => stop.abort()
}

let connections = 0

async function follow(
  url: string,
  wire: WireFilter,
  {
    handlers: { onPending, onHead, onOpen, onLost, onError },
    signal,
  }: { handlers: LogSocketHandlers; signal: AbortSignal },
): Promise<void> {
  // Unique options: viem shares a socket between clients with equal options,
  // and closing ours would then close that of another client.
  const keepAlive = { interval: 30_000, owner: connections++ }
  const transport = webSocket(url, {
    reconnect: false,
    keepAlive,
    retryCount: 0,
  })({})
  const over = new AbortController()
  const end = () => over.abort()
  signal.addEventListener('abort', end)
  const connecting = transport.value?.getRpcClient()
  // Closes the socket when the watch ends, because viem keeps the socket and a
  // timer in its cache until then.
  over.signal.addEventListener('abort', () => {
    connecting?.then((rpc) => rpc.close()).catch(() => {})
  })
  const subscribe = (
    params: unknown[],
    onData: (data: unknown) => void,
    onFault: () => void = () => {},
  ): Promise<unknown> =>
    untilOver(
      transport.value?.subscribe({
        params: params as never,
        onData: ({ result }: { result: unknown }) => {
          if (!over.signal.aborted) onData(result)
        },
        onError: onFault,
      } as never),
      over.signal,
    )
  try {
    const rpc = await untilOver(connecting, over.signal)
    if (!rpc || over.signal.aborted) return
    rpc.socket.addEventListener('close', end)
    rpc.socket.addEventListener('error', end)
    if (rpc.socket.readyState > 1) end()
    // viem drops all subscriptions after a message that it cannot parse. It
    // then calls `end`, which opens a new connection.
    await subscribe(['newHeads'], onHead, end)
    await subscribe(['pendingLogs', wire], (data) => {
      try {
        const log = parseRpcLog(data, 'eth_subscribe')
        if (log.preconfirmed && !log.removed) onPending(log)
      } catch (error) {
        onError(error)
      }
    }).catch(() => {})
    if (over.signal.aborted) return
    onOpen()
    // A connection can die without an event. So send the node a request at
    // intervals.
    while (!over.signal.aborted) {
      await wait(silence, over.signal)
      if (over.signal.aborted) break
      const body = { method: 'net_version', params: [] }
      await untilOver(rpc.requestAsync({ body }), over.signal).catch(end)
    }
    if (!signal.aborted) onLost()
  } finally {
    signal.removeEventListener('abort', end)
    end()
  }
}

/**
 * Returns the result, or `undefined` if the signal aborts first. Throws after
 * 10 seconds (`patience`).
 */
function untilOver<result>(
  work: Promise<result> | undefined,
  signal: AbortSignal,
): Promise<result | undefined> {
  let forget = () => {}
  const ended = new Promise<undefined>((resolve) => {
    // Resolves in a later turn of the event loop, so that an error of `work`
    // comes first: the error says why the connection ended.
    forget = onAbort(signal, () => soon(() => resolve(undefined)))
  })
  return inTime(Promise.race([work, ended]), patience, () => {
    throw new Error('The WebSocket did not answer in time.')
  }).finally(forget)
}
