/** As much of viem's WebSocket transport as is used here. */
type SocketTransport = { getRpcClient?: () => Promise<SocketClient> }

type SocketClient = {
  close(): void
  socket: { readyState: number; close(): void }
  requestAsync(request: { body: object; timeout: number }): Promise<unknown>
}

/** Milliseconds for the answer to the question whether the node is there. */
const patience = 5_000

/** Milliseconds in which viem may open a closed socket again by itself. */
const reopening = 5_000

const closedSince = /* @__PURE__ */ new WeakMap<object, number>()
const asked = /* @__PURE__ */ new WeakSet<object>()

/**
 * Replaces the WebSocket of a viem transport where a request failed and the
 * other side does not answer any more. Nothing closes a connection whose peer
 * vanished, and viem gives up one that it cannot open again at once: without
 * this, every later request fails too.
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
    // The next request opens another one.
    if (performance.now() - since >= reopening) rpc.close()
    return
  }
  if (asked.has(socket)) return
  asked.add(socket)
  const body = { method: 'net_version', params: [] }
  // Closed like this, viem opens it again, and with it its subscriptions.
  const onSilence = () => socket.close()
  await rpc.requestAsync({ body, timeout: patience }).catch(onSilence)
  asked.delete(socket)
}
