import { addMilliseconds } from '../sequencer/blockMilliseconds.js'
import { answerControl, isControlMethod } from '../sequencer/controlMethods.js'
import { type AnswerRpc, asJson, RpcFault } from '../sequencer/devRpc.js'
import type { Sequencer } from '../sequencer/sequencer.js'
import { withoutPending } from './answerFlashblocks.js'
import { canonicalLogs } from './canonicalLogs.js'

/** Answers as a node of Base does since Base has blocks of 200 ms. */
export function answerFastBlocks(sequencer: Sequencer): AnswerRpc {
  const { node, lock } = sequencer
  const control = answerControl(sequencer)
  return async (method, params) => {
    if (isControlMethod(method)) return control(method, params)
    if (method === 'eth_sendRawTransactionSync')
      throw new RpcFault({ code: -32601, message: 'method not found' })
    const answer = await lock.shared(async () => {
      if (method === 'eth_getLogs')
        return canonicalLogs(sequencer, asJson(params[0]))
      // As on Base, this method alone counts transactions of the mempool for
      // `pending`. All other methods answer `pending` like `latest`.
      const asked =
        method === 'eth_getTransactionCount'
          ? params
          : withoutPending(method, params)
      return node.request(method, asked)
    })
    return addMilliseconds(answer, sequencer.sealedAt)
  }
}
