import type { SupportedResponse } from '@x402/core/types'
import { CountersignError } from '../../core/CountersignError.js'
import { channelScheme, networkOf } from '../wire/requirements.js'
import { answerSettle, answerVerify } from './answerCall.js'
import type { FacilitatorContext, SettledCaller } from './facilitatorContext.js'
import { parseCaller } from './parseFacilitator.js'
import { mostBatchBytes, mostPayloadBytes, readJson } from './readJson.js'

type Kinds = SupportedResponse['kinds']

/**
 * Returns what a facilitator supports, in the form of x402.
 *
 * @param channelExtra what servers of the scheme `batch-settlement` must know.
 */
export function supportedBy(
  {
    context,
    assets,
    loadChannels,
  }: Pick<FacilitatorContext, 'context' | 'assets' | 'loadChannels'>,
  channelExtra?: { receiverAuthorizer: string },
): SupportedResponse {
  const served = context.tokens.filter(({ token }) => assets.includes(token))
  const chainIds = [...new Set(served.map(({ chainId }) => chainId))]
  const signers = context.wallets
    .filter(({ submitter }) => chainIds.includes(submitter.chainId))
    .map(({ submitter }) => submitter.account)
  const kindsOf = (scheme: string): Kinds =>
    chainIds.map((chainId) => ({
      x402Version: 2,
      scheme,
      network: networkOf(chainId),
      ...(scheme === channelScheme && channelExtra
        ? { extra: channelExtra }
        : {}),
    }))
  return {
    kinds: [
      ...kindsOf('exact'),
      ...(loadChannels ? kindsOf(channelScheme) : []),
    ],
    extensions: [],
    signers: { 'eip155:*': [...new Set(signers)] },
  }
}

/** Answers a request. Never rejects: turns errors into answers. */
export async function serveFacilitator(
  facilitator: FacilitatorContext,
  request: Request,
): Promise<Response> {
  const leaving = new AbortController()
  const leave = () => leaving.abort()
  request.signal.addEventListener('abort', leave)
  if (request.signal.aborted) leave()
  try {
    return await serveRoute(facilitator, request, leaving.signal)
  } catch (error) {
    observeFailedRequest(facilitator, error)
    return reply(500, { error: 'internal' })
  } finally {
    request.signal.removeEventListener('abort', leave)
  }
}

function observeFailedRequest(
  { context }: Pick<FacilitatorContext, 'context'>,
  error: unknown,
): void {
  context.observe({
    name: 'x402.request.failed',
    attributes: {
      error: error instanceof CountersignError ? error.name : 'Error',
    },
  })
}

const methods: Readonly<Record<string, string>> = {
  '/verify': 'POST',
  '/settle': 'POST',
  '/supported': 'GET',
}

async function serveRoute(
  facilitator: FacilitatorContext,
  request: Request,
  signal: AbortSignal,
): Promise<Response> {
  const { pathname } = new URL(request.url)
  const isInside = pathname.startsWith(`${facilitator.basePath}/`)
  const route = isInside ? pathname.slice(facilitator.basePath.length) : ''
  const method = Object.hasOwn(methods, route) ? methods[route] : undefined
  if (method === undefined) return reply(404, { error: 'notFound' })
  if (request.method !== method)
    return reply(405, { error: 'methodNotAllowed' }, { allow: method })
  const caller = await admit(facilitator, request)
  if (!caller)
    return reply(
      401,
      { error: 'unauthorized' },
      { 'www-authenticate': 'Bearer' },
    )
  if (route === '/supported')
    return reply(200, await supportedFor(facilitator, caller))
  const mostBytes = facilitator.loadChannels ? mostBatchBytes : mostPayloadBytes
  const read = await readJson(request, mostBytes)
  if (!read.ok) return reply(read.status, { error: read.error })
  const asked = { body: read.body, caller, signal }
  return reply(
    200,
    route === '/verify'
      ? await answerVerify(facilitator, asked)
      : await answerSettle(facilitator, asked),
  )
}

/** The receiver's authorizer is the caller's own: others do not learn it. */
async function supportedFor(
  facilitator: FacilitatorContext,
  caller: SettledCaller,
): Promise<SupportedResponse> {
  const { loadChannels } = facilitator
  if (!loadChannels) return supportedBy(facilitator)
  try {
    const { getAuthorizer } = await loadChannels()
    const receiverAuthorizer = await getAuthorizer(caller)
    return supportedBy(facilitator, { receiverAuthorizer })
  } catch (error) {
    if (!(error instanceof CountersignError)) throw error
    // Its key does not open now. Servers of the scheme `exact` need none.
    observeFailedRequest(facilitator, error)
    return supportedBy({ ...facilitator, loadChannels: undefined })
  }
}

async function admit(
  facilitator: FacilitatorContext,
  request: Request,
): Promise<SettledCaller | undefined> {
  return parseCaller(facilitator, await facilitator.authorize(request))
}

function reply(
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: {
      ...headers,
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}
