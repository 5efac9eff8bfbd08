import { type AnswerRpc, invalidParams } from '../sequencer/devRpc.js'
import type { Feed } from '../sequencer/feed.js'
import type { DevSocket } from './loadWebSockets.js'
import type { DevPolicies } from './policies.js'

const flashblockKinds = [
  'pendingLogs',
  'newFlashblocks',
  'newFlashblockTransactions',
]

/** Subscriptions of one connection to what the emulation itself announces. */
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
