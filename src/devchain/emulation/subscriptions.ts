import {
  type AnswerRpc,
  asJson,
  invalidParams,
  RpcFault,
} from '../sequencer/devRpc.js'
import type { Feed } from '../sequencer/feed.js'
import { type DevSocket, loadWebSockets } from './loadWebSockets.js'
import type { DevPolicies } from './policies.js'

const flashblockKinds = [
  'pendingLogs',
  'newFlashblocks',
  'newFlashblockTransactions',
]

/**
 * Handles the subscriptions of one WebSocket. Sends the events of the emulated
 * network.
 */
export function ownSubscriptions(
  feed: Feed,
  socket: DevSocket,
  policies: () => DevPolicies,
): AnswerRpc {
  socket.on('close', () => feed.leave(socket))
  return async (method, params) => {
    if (method === 'eth_unsubscribe') return feed.unsubscribe(params[0], socket)
    const [kind] = params
    const refused = policies().flashblockSubscriptions === 'refused'
    if (refused && flashblockKinds.includes(String(kind)))
      throw invalidParams(`unsupported subscription ${String(kind)}`)
    return feed.subscribe(params, socket, (text) => {
      if (socket.readyState === 1) socket.send(text)
    })
  }
}

/**
 * Forwards the subscriptions of one WebSocket to the node, through a WebSocket
 * of their own.
 */
export async function passSubscriptions(
  socket: DevSocket,
  port: number,
): Promise<AnswerRpc> {
  const { WebSocket } = await loadWebSockets()
  const upstream = new WebSocket(`ws://127.0.0.1:${port}`)
  const waiting = new Map<unknown, (answer: unknown) => void>()
  let count = 0

  socket.on('close', () => upstream.terminate())
  upstream.on('close', () => socket.terminate())
  upstream.on('error', () => undefined)
  upstream.on('message', (data) => {
    const text = data.toString()
    const { id } = asJson(JSON.parse(text))
    const settle = waiting.get(id)
    waiting.delete(id)
    if (settle) settle(JSON.parse(text))
    else if (socket.readyState === 1) socket.send(text)
  })
  await new Promise<void>((resolve) => {
    upstream.on('open', () => resolve())
    upstream.on('close', () => resolve())
  })
  return async (method, params) => {
    const id = ++count
    const answer = await new Promise((resolve) => {
      waiting.set(id, resolve)
      upstream.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
    })
    const { error, result } = asJson(answer)
    if (error === undefined) return result
    const { code, message } = asJson(error)
    throw new RpcFault({ code: Number(code), message: String(message) })
  }
}
