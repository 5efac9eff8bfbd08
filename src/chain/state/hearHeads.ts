import type { Client } from 'viem'

/**
 * Milliseconds without a new block after which to subscribe again. viem gives
 * up a lost socket after some attempts, without an error.
 */
const silence = 30_000

/** The part of viem's WebSocket transport that subscribes. */
type Subscribe = (wanted: {
  params: ['newHeads']
  onData: () => void
  onError: () => void
}) => Promise<{ unsubscribe(): Promise<unknown> }>

/**
 * Calls `onHead` when the node reports a new block, if the client has a
 * WebSocket. Do not rely on it: after a lost connection the calls may stop.
 * Returns a function that ends it.
 */
export function hearHeads(client: Client, onHead: () => void): () => void {
  const subscribe = findSubscribe(client)
  if (!subscribe) return () => undefined
  let end: () => void = () => undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const begin = (): void => {
    end()
    let isOver = false
    timer = setTimeout(begin, silence)
    const onData = () => {
      if (isOver) return
      clearTimeout(timer)
      timer = setTimeout(begin, silence)
      onHead()
    }
    const subscribed = subscribe({
      params: ['newHeads'],
      onData,
      onError: () => undefined,
    })
    // A failed subscription is no error: the caller also polls.
    subscribed.catch(() => undefined)
    end = () => {
      isOver = true
      clearTimeout(timer)
      subscribed.then((one) => one.unsubscribe()).catch(() => undefined)
    }
  }
  begin()
  return () => end()
}

/** Finds the first WebSocket of a client, also among its fallbacks. */
function findSubscribe({ transport }: Client): Subscribe | undefined {
  const { transports = [] } = Object(transport)
  const values = [transport, ...transports.map(({ value }: Inner) => value)]
  return values
    .map((value) => Object(value).subscribe)
    .find((subscribe) => typeof subscribe === 'function')
}

/** One transport of viem's `fallback`. */
type Inner = { value?: unknown }
