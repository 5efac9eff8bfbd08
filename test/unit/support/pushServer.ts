import { createServer } from 'node:http'
import { zeroHash } from '../../../src/core/receiptProof.js'
import {
  type DevSocket,
  loadWebSockets,
} from '../../../src/devchain/emulation/loadWebSockets.js'
import type { FakeLog } from './forkingChain.js'

/** A WebSocket endpoint that pushes what it is told to, and breaks. */
export async function openPushServer() {
  const { WebSocketServer } = await loadWebSockets()
  const upgrades = new WebSocketServer({ noServer: true })
  const subscriptions = new Map<DevSocket, Map<string, string>>()
  const server = createServer()
  let opened = 0
  const mute = new Set<DevSocket>()
  server.on('upgrade', (request, socket, head) =>
    upgrades.handleUpgrade(request, socket, head, (one) => {
      subscriptions.set(one, new Map())
      opened += 1
      one.on('close', () => subscriptions.delete(one))
      one.on('message', (data) => {
        if (mute.has(one)) return
        const { id, params } = JSON.parse(data.toString())
        subscriptions.get(one)?.set(params[0], `0x${id}`)
        one.send(JSON.stringify({ jsonrpc: '2.0', id, result: `0x${id}` }))
      })
    }),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const push = (kind: string, result: unknown) => {
    for (const [socket, kinds] of subscriptions) {
      const subscription = kinds.get(kind)
      if (subscription === undefined || socket.readyState !== 1) continue
      if (mute.has(socket)) continue
      const params = { subscription, result }
      socket.send(
        JSON.stringify({ jsonrpc: '2.0', method: 'eth_subscription', params }),
      )
    }
  }
  return {
    url: `ws://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
    pushHead: () => push('newHeads', {}),
    pushPending: (log: FakeLog) =>
      push('pendingLogs', { ...log, blockHash: zeroHash }),
    /** Sends half a message. */
    garble: () => {
      for (const socket of subscriptions.keys()) socket.send('{"jsonrpc":')
    },
    /** Ends every connection without a word, and says how many there were. */
    cut: () => {
      const { size } = subscriptions
      for (const socket of subscriptions.keys()) socket.terminate()
      subscriptions.clear()
      return size
    },
    /** From now on says nothing over what is open, and closes nothing. */
    fallSilent: () => {
      for (const socket of subscriptions.keys()) mute.add(socket)
    },
    connections: () => subscriptions.size,
    /** Connections so far. */
    opened: () => opened,
    close: () => server.close(),
  }
}
