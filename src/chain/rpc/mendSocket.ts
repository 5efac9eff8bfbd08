/** The parts of viem's WebSocket transport that are used here. */
type SocketTransport = { getRpcClient?: () => Promise<SocketClient> }

type SocketClient = {
  close(): void
  socket: { readyState: number; close(): void }
  requestAsync(request: { body: object; timeout: number }): Promise<unknown>
}

/**
 * Milliseconds within which the node must answer the request that tests the
 * socket.
 */
const patience = 5_000

/** Milliseconds that viem gets to reopen a closed socket by itself. */
const reopening = 5_000

const closedSince = /* @__PURE__ */ new WeakMap<object, number>()
const asked = /* @__PURE__ */ new WeakSet<object>()

/**
 * Called after a failed request. Replaces the WebSocket of a viem transport if
 * the node no longer answers. Otherwise every later request would fail too:
 * nobody closes a connection whose other end vanished, and viem soon stops
 * reopening a closed one.
 */
export function mendSocket(transport: unknown): void {
  const { getRpcClient }: SocketTransport = Object(transport)
  getRpcClient?.()
    .then(mend)
    .catch(() => undefined)
}

async function mend(rpc: SocketClient): Promise<void> {
  const { socket } = rpc
  if (socket.readyState > 1) {
    const since = closedSince.get(socket) ?? performance.now()
    closedSince.set(socket, since)
    // The next request opens a new socket after this `close`.
    if (performance.now() - since >= reopening) rpc.close()
    return
  }
  if (asked.has(socket)) return
  asked.add(socket)
  const body = { method: 'net_version', params: [] }
  // viem reopens the socket and its subscriptions after this `close`.
  const onSilence = () => socket.close()
  await rpc.requestAsync({ body, timeout: patience }).catch(onSilence)
  asked.delete(socket)
}
