import { createTransport, type Transport } from 'viem'
import { namingHost } from './endpointHost.js'
import type { NodeFailure } from './errors.js'
import { soon } from './nextTurn.js'
import { type PostAnswer, type PostOptions, postRpc } from './postRpc.js'
import { RpcError } from './RpcError.js'
import {
  encodeRpcCalls,
  type RpcCall,
  type RpcOutcome,
  settleRpcCalls,
} from './rpcBatch.js'
import { sendAgain } from './sendAgain.js'

export type ReadTransportOptions = PostOptions & {
  /** Calls in one HTTP request. */
  batchSize: number
  /** How often a request that may succeed later is sent again. */
  retries: number
}

/** Sends a call without viem's own error and retry layers around it. */
export type SendRpc = (method: string, params: unknown) => Promise<RpcOutcome>

/**
 * A viem transport that sends the calls of one tick as one batch, and again
 * only what may succeed later.
 */
export function readTransport(
  options: ReadTransportOptions,
): Transport<'http', { url: string; send: SendRpc }> {
  return () => {
    const send = namingHost(createSender(options), options.url)
    return createTransport(
      {
        key: 'http',
        name: 'countersign reads',
        type: 'http',
        retryCount: 0,
        timeout: options.timeout,
        async request({ method, params }) {
          const { result, failure } = await send(method, params)
          if (failure) throw new RpcError(failure)
          return result as never
        },
      },
      { url: options.url, send },
    )
  }
}

function createSender(options: ReadTransportOptions): SendRpc {
  let queue: RpcCall[] = []
  let id = 0
  let { batchSize } = options

  const flush = () => {
    const calls = queue
    queue = []
    for (let at = 0; at < calls.length; at += batchSize)
      void sendCalls(calls.slice(at, at + batchSize))
  }
  const sendCalls = async (calls: readonly RpcCall[]): Promise<void> => {
    const { answer, failure } = await postWithRetries(calls, options)
    const refused = failure && isBatchRefusal(failure, calls.length)
    if (!failure && settleRpcCalls(calls, answer)) return
    if (failure && !refused) {
      const served = findServed(calls, failure)
      for (const call of calls)
        if (!served.includes(call)) call.settle({ failure })
      if (served.length > 0) await sendCalls(served)
      return
    }
    batchSize = 1
    await Promise.all(calls.map((call) => sendCalls([call])))
  }
  return (method, params) =>
    new Promise((settle) => {
      if (queue.length === 0) soon(flush)
      queue.push({ id: ++id, method, params: params ?? [], settle })
    })
}

function postWithRetries(
  calls: readonly RpcCall[],
  { retries, ...options }: ReadTransportOptions,
): Promise<PostAnswer> {
  const body = encodeRpcCalls(calls)
  const methods = calls.map(({ method }) => method)
  return sendAgain(methods, retries, () => postRpc(body, options))
}

/**
 * The calls worth sending without the others: public endpoints forbid a whole
 * batch for one method they do not serve.
 */
function findServed(
  calls: readonly RpcCall[],
  { status }: NodeFailure,
): readonly RpcCall[] {
  const others = calls.filter(({ method }) => method !== 'eth_getBlockReceipts')
  return status === 403 && others.length < calls.length ? others : []
}

/** Nodes refuse batches as a whole, before they look at a call. */
function isBatchRefusal({ code, status }: NodeFailure, size: number): boolean {
  return size > 1 && (code === -32600 || status === 400 || status === 413)
}
