import type { Transport } from 'viem'
import { inTime } from '../../core/wait.js'
import { namingHost } from './endpointHost.js'
import { parseFailure, RpcError } from './errors.js'
import { mendSocket } from './mendSocket.js'
import type { SendRpc } from './rpcBatch.js'
import { sendAgain } from './sendAgain.js'

/**
 * Wraps any viem transport, also WebSocket and custom ones, so that `sendAgain`
 * decides about retries instead of viem.
 */
export function steadyTransport(
  transport: Transport,
  retries: number,
): Transport {
  return (config) => {
    const inner = transport({ ...config, retryCount: 0 })
    const isSocket = inner.config.type === 'webSocket'
    const { timeout = 10_000 } = inner.config
    const late = () => {
      throw new RpcError({ words: `no answer in ${timeout} ms` })
    }
    const sendSteadily: SendRpc = (method, params, signal) => {
      const attempt = async () => {
        try {
          const asking = inner.request({ method, params } as never, {
            retryCount: 0,
          })
          // Limits the time to open a socket, because viem does not.
          const result = await (isSocket
            ? inTime(asking, timeout, late)
            : asking)
          return { result }
        } catch (error) {
          mendSocket(inner.value)
          return { failure: parseFailure(error) }
        }
      }
      return sendAgain([method], retries, attempt, signal)
    }
    const send = namingHost(sendSteadily, inner.value)
    const steady = async (request: { method: string; params?: unknown }) => {
      const { result, failure } = await send(request.method, request.params)
      if (failure) throw new RpcError(failure)
      return result
    }
    return {
      ...inner,
      config: { ...inner.config, retryCount: 0 },
      request: steady as typeof inner.request,
      value: { ...inner.value, send },
    }
  }
}
