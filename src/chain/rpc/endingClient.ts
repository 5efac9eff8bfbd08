import type { Client } from 'viem'
import { endOnAbort } from '../../core/onAbort.js'
import { parseFailure, RpcError } from './errors.js'
import { mendSocket } from './mendSocket.js'
import type { SendRpc } from './rpcBatch.js'
import { tickSignals } from './tickSignals.js'
import type { NodeFailure } from './types.js'

/**
 * The failure of a request that was ended by the signal. It has no error code,
 * like that of a lost connection, because the node may have carried out the
 * request.
 */
const failure: NodeFailure = { words: 'stopped before the node answered' }

/**
 * Returns a copy of the client that stops with the signal: when it aborts,
 * pending requests fail and no new ones are sent. The node may still carry out
 * a request that failed this way.
 */
export function endingClient(client: Client, signal: AbortSignal): Client {
  const { send, timeout }: { send?: SendRpc; timeout?: number } = Object(
    client.transport,
  )
  const ofTick = tickSignals(signal, timeout)
  const request = async (sent: unknown, options?: object | undefined) => {
    if (signal.aborted) throw new RpcError(failure)
    const { signal: over, leave } = ofTick()
    const ask = () =>
      client.request(sent as never, { ...options, signal: over })
    return untilEnd(over, ask)
      .catch((error: unknown) => {
        mendSocket(client.transport)
        throw error
      })
      .finally(leave)
  }
  // The cast is safe, because the wrapper changes neither parameters nor
  // answers.
  const ending = { ...client, request: request as Client['request'] }
  if (!send) return ending
  const sendUntilEnd: SendRpc = (method, params) =>
    untilEnd(signal, () => send(method, params, signal)).catch(
      (error: unknown) => ({ failure: parseFailure(error) }),
    )
  return { ...ending, transport: { ...client.transport, send: sendUntilEnd } }
}

export async function untilEnd<answer>(
  signal: AbortSignal,
  ask: () => Promise<answer>,
): Promise<answer> {
  if (signal.aborted) throw endOf(signal)
  return endOnAbort(ask(), signal, endOf)
}

function endOf({ reason }: AbortSignal): RpcError {
  return reason instanceof RpcError ? reason : new RpcError(failure)
}
