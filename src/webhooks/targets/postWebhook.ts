import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { TLSSocket } from 'node:tls'
import { parseRetryAfter } from '../../core/parseRetryAfter.js'
import { inTime } from '../../core/wait.js'
import { findAddresses } from './findAddresses.js'
import type { CheckedTarget, WebhookFailure, WebhookTools } from './types.js'

export type PostedWebhook =
  | { ok: true; status: number }
  | {
      ok: false
      reason: WebhookFailure
      status?: number | undefined
      /** Milliseconds that the receiver asks to wait (header `Retry-After`). */
      retryAfter?: number | undefined
    }

/**
 * Sends one event once. Follows no redirect, does not read the body of the
 * response, and gives up after `tools.timeout` milliseconds.
 */
export async function postWebhook(
  target: CheckedTarget,
  message: { id: string; body: string },
  tools: WebhookTools,
): Promise<PostedWebhook> {
  const stop = new AbortController()
  const trying = tryOnce(target, message, { tools, signal: stop.signal })
  return inTime(trying, tools.timeout, () => {
    stop.abort()
    return { ok: false, reason: 'timedOut' }
  })
}

async function tryOnce(
  target: CheckedTarget,
  message: { id: string; body: string },
  { tools, signal }: { tools: WebhookTools; signal: AbortSignal },
): Promise<PostedWebhook> {
  const found = await findAddresses(target, tools)
  if (!found.ok) return found
  if (signal.aborted) return { ok: false, reason: 'timedOut' }
  const { addresses } = found
  return exchange(target, message, { addresses, signal })
}

/**
 * Sends the request. Hides the text of errors, because it may quote the
 * request.
 */
function exchange(
  target: CheckedTarget,
  message: { id: string; body: string },
  { addresses, signal }: { addresses: readonly string[]; signal: AbortSignal },
): Promise<PostedWebhook> {
  return new Promise((resolve) => {
    const sending = request(target.url, {
      ...optionsOf(target, addresses),
      headers: headersOf(target, message),
      signal,
    })
    sending.on('response', (response) => {
      resolve(judge(response))
      response.on('error', () => undefined)
      response.destroy()
    })
    sending.on('error', () => {
      const { socket } = sending
      const isRefused = socket instanceof TLSSocket && socket.authorizationError
      const reason = isRefused ? 'certificateRefused' : 'connectionFailed'
      resolve({ ok: false, reason })
    })
    sending.end(message.body)
  })
}

function judge({
  statusCode: status = 0,
  headers,
}: IncomingMessage): PostedWebhook {
  if (status >= 200 && status < 300) return { ok: true, status }
  const isRedirect = status >= 300 && status < 400
  return {
    ok: false,
    reason: isRedirect ? 'redirected' : 'statusRefused',
    status,
    retryAfter: parseRetryAfter(headers['retry-after'], headers.date),
  }
}

function optionsOf(
  { ca }: CheckedTarget,
  addresses: readonly string[],
): RequestOptions {
  return {
    method: 'POST',
    // Opens a new connection for each request, because each goes to an address
    // that was checked just now.
    agent: false,
    lookup: pinTo(addresses),
    // Set explicitly: otherwise the environment variable
    // `NODE_TLS_REJECT_UNAUTHORIZED=0` would turn off the check of the
    // certificate.
    rejectUnauthorized: true,
    ...(ca !== undefined && { ca }),
  }
}

/**
 * Makes Node connect only to the addresses that were checked. A second lookup
 * could return others, such as a private one.
 */
function pinTo(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_, { all }, callback) => {
    const [first] = found
    if (all) callback(null, found)
    else callback(null, first?.address ?? '', first?.family)
  }
}

function headersOf(
  { sign }: CheckedTarget,
  { id, body }: { id: string; body: string },
): Record<string, string | number> {
  const now = new Date()
  return {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'user-agent': 'countersign',
    'webhook-id': id,
    'webhook-timestamp': Math.floor(now.getTime() / 1000),
    'webhook-signature': sign(id, now, body),
  }
}
