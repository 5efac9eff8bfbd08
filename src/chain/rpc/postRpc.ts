import { parseRetryAfter } from '../../core/parseRetryAfter.js'
import { parseRpcError, tidy } from './errors.js'
import type { NodeFailure } from './types.js'

export type PostOptions = {
  url: string
  headers: Readonly<Record<string, string>>
  /** Milliseconds after which one HTTP request fails. */
  timeout: number
}

export type PostAnswer =
  | { answer: unknown; failure?: never }
  | { answer?: never; failure: NodeFailure }

export async function postRpc(
  body: string,
  { url, headers, timeout }: PostOptions,
  signal?: AbortSignal | undefined,
): Promise<PostAnswer> {
  const stop = new AbortController()
  const end = () => stop.abort()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, timeout)
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      signal: stop.signal,
    })
    const { status, headers: answered } = response
    const text = await response.text()
    const answer = parse(text)
    if (response.ok)
      return answer === undefined
        ? { failure: { words: 'the body is not JSON' } }
        : { answer }
    return {
      failure: {
        ...parseRefusal(answer, text, status),
        status,
        retryAfter: parseRetryAfter(
          answered.get('retry-after'),
          answered.get('date'),
        ),
      },
    }
  } catch {
    const words = isLate ? `no answer in ${timeout} ms` : 'no connection'
    return { failure: { words } }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
  }
}

/** Parses a JSON-RPC error, or the text of a proxy in front of the node. */
function parseRefusal(
  answer: unknown,
  text: string,
  status: number,
): NodeFailure {
  const { error, message } = Object(answer)
  if (error) return parseRpcError(error)
  const plain = answer === undefined && !text.includes('<') ? text : ''
  const words = typeof message === 'string' ? message : plain
  return { words: tidy(words.trim()) || `HTTP ${status}` }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
