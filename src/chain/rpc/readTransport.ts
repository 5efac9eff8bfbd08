import { createTransport, type Transport } from 'viem'
import { decodePercent } from '../../core/decodePercent.js'
import { onAbort } from '../../core/onAbort.js'
import { soon } from '../../core/wait.js'
import { namingHost } from './endpointHost.js'
import { RpcError } from './errors.js'
import { type PostAnswer, type PostOptions, postRpc } from './postRpc.js'
import {
  encodeRpcCalls,
  finishRpcCalls,
  isOfBatch,
  type QueuedCall,
  type SendRpc,
} from './rpcBatch.js'
import { sendAgain } from './sendAgain.js'
import type { NodeFailure } from './types.js'

export type ReadTransportOptions = PostOptions & {
  batchSize: number
  /** Most retries of a request that failed for a temporary reason. */
  retries: number
}

/**
 * Creates a viem transport that sends the calls of one turn of the event loop
 * as one batch. It repeats only calls that may succeed later.
 */
export function readTransport(
  options: ReadTransportOptions,
): Transport<'http', { url: string; send: SendRpc; isBatching: boolean }> {
  return () => {
    const sender = createSender({ ...options, ...splitCredentials(options) })
    const { url, headers } = options
    const send = namingHost(sender, { url, fetchOptions: { headers } })
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
      { url, send, isBatching: options.batchSize > 1 },
    )
  }
}

/**
 * Moves name and password from the URL to a header, because `fetch` refuses
 * URLs with credentials.
 */
function splitCredentials({
  url,
  headers,
}: PostOptions): Pick<PostOptions, 'url' | 'headers'> {
  const { username, password } = new URL(url)
  if (!username && !password) return { url, headers }
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  const pair = [username, password].map(decodePercent).join(':')
  const bytes = new TextEncoder().encode(pair)
  const authorization = `Basic ${btoa(String.fromCharCode(...bytes))}`
  return { url: bare.href, headers: { authorization, ...headers } }
}

function createSender(options: ReadTransportOptions): SendRpc {
  let queue: QueuedCall[] = []
  let id = 0
  let { batchSize } = options

  const flush = () => {
    const calls = queue
    queue = []
    for (let at = 0; at < calls.length; at += batchSize)
      void sendCalls(calls.slice(at, at + batchSize))
  }
  const sendCalls = async (calls: readonly QueuedCall[]): Promise<void> => {
    const { signal, release } = watchInterest(calls)
    const { answer, failure } = await postWithRetries(calls, options, signal)
    release()
    if (failure && !isBatchRefusal(failure, calls.length)) {
      const served = findServed(calls, failure)
      for (const call of calls)
        if (!served.includes(call)) call.settle({ failure })
      if (served.length > 0) await sendCalls(served)
      return
    }
    const left = failure ? calls : finishRpcCalls(calls, answer)
    if (left.length === calls.length) batchSize = 1
    await Promise.all(left.map((call) => sendCalls([call])))
  }
  return (method, params, signal) =>
    new Promise((settle) => {
      if (queue.length === 0) soon(flush)
      queue.push({
        id: ++id,
        method,
        params: params ?? [],
        signal,
        settle,
      })
    })
}

function postWithRetries(
  calls: readonly QueuedCall[],
  { retries, ...options }: ReadTransportOptions,
  signal: AbortSignal,
): Promise<PostAnswer> {
  const body = encodeRpcCalls(calls)
  const methods = calls.map(({ method }) => method)
  const post = () => postRpc(body, options, signal)
  return sendAgain(methods, retries, post, signal)
}

/**
 * Returns a signal that aborts when the signals of all callers have aborted,
 * because only then does nobody need the batch.
 */
function watchInterest(calls: readonly QueuedCall[]): {
  signal: AbortSignal
  release(): void
} {
  const over = new AbortController()
  const look = () => {
    if (calls.every(({ signal }) => signal?.aborted)) over.abort()
  }
  const signals = new Set(calls.flatMap(({ signal }) => signal ?? []))
  const forgets = [...signals].map((signal) => onAbort(signal, look))
  look()
  const release = () => {
    for (const forget of forgets) forget()
  }
  return { signal: over.signal, release }
}

/**
 * Some public endpoints answer 403 to a whole batch if one call is
 * `eth_getBlockReceipts`. Returns the other calls, to send them again.
 */
function findServed(
  calls: readonly QueuedCall[],
  { status }: NodeFailure,
): readonly QueuedCall[] {
  const others = calls.filter(({ method }) => method !== 'eth_getBlockReceipts')
  return status === 403 && others.length < calls.length ? others : []
}

/** True when the node refused the batch itself, not one of its calls. */
function isBatchRefusal(failure: NodeFailure, size: number): boolean {
  const { code, status = 0 } = failure
  if (size === 1) return false
  return code === -32600 || [400, 413].includes(status) || isOfBatch(failure)
}
