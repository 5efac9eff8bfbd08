import type { Client } from 'viem'
import { NodeAnswerError } from './errors.js'
import { hideKeys } from './hideKeys.js'
import { hostOf } from './hostOf.js'
import type { SendRpc } from './rpcBatch.js'

/**
 * Wraps `send` so that each failure names the host of the endpoint. Leaves out
 * the rest of the URL, which may contain a key.
 */
export function namingHost(send: SendRpc, transport: unknown): SendRpc {
  const host = hostOf(Object(transport).url)
  return async (method, params, signal) => {
    const outcome = await send(method, params, signal)
    if (!outcome.failure) return outcome
    const words = hideKeys(outcome.failure.words, transport)
    return { failure: { ...outcome.failure, words, host } }
  }
}

/**
 * Parses a node's answer. A `NodeAnswerError` that `parse` throws then names
 * the host of the node.
 */
export function parseFrom<answer>(
  client: Pick<Client, 'transport'>,
  read: () => answer,
): answer {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof NodeAnswerError)) throw error
    const { method, problem } = error.details as Record<string, string>
    throw new NodeAnswerError({
      method: String(method),
      problem: String(problem),
      host: hostOf(Object(client.transport).url),
    })
  }
}
