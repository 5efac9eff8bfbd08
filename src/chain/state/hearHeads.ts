import type { Client } from 'viem'

/**
 * Milliseconds without a new block after which to subscribe again. viem stops
 * reopening a lost socket after some attempts, without an error.
 */
const silence = 30_000

/** The part of viem's WebSocket transport that subscribes. */
type Subscribe = (wanted: {
  params: ['newHeads']
  onData: () => void
  onError: () => void
}) => Promise<{ unsubscribe(): Promise<unknown> }>

/**
 * Calls `onHead` for each new block, if the client has a WebSocket. Poll as
 * well: after a lost connection the calls may stop. Returns a function that
 * ends the subscription.
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
    // Ignores a failed subscription, because the caller also polls.
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

/**
 * Finds the first WebSocket transport of a client, also among its fallbacks.
 */
function findSubscribe({ transport }: Client): Subscribe | undefined {
  const { transports = [] } = Object(transport)
  const values = [transport, ...transports.map(({ value }: Inner) => value)]
  return values
    .map((value) => Object(value).subscribe)
    .find((subscribe) => typeof subscribe === 'function')
}

/** One of the transports that viem's `fallback` combines. */
type Inner = { value?: unknown }
