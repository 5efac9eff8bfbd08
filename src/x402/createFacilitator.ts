import type {
  SchemeNetworkFacilitator,
  FacilitatorContext as StockContext,
} from '@x402/core/types'
import { InvalidFieldError } from '../core/errors.js'
import { answerSettle, answerVerify } from './facilitator/answerCall.js'
import type {
  FacilitatorContext,
  LoadChannelScheme,
  SettledCaller,
} from './facilitator/facilitatorContext.js'
import {
  parseCaller,
  parseFacilitator,
} from './facilitator/parseFacilitator.js'
import {
  serveFacilitator,
  supportedBy,
} from './facilitator/serveFacilitator.js'
import type {
  Facilitator,
  FacilitatorCaller,
  FacilitatorParameters,
} from './facilitator/types.js'
import { channelScheme } from './wire/requirements.js'

/**
 * Settles x402 payments of the exact scheme, and with `channels` of
 * `batch-settlement`, for servers that use `@x402/core`: `/verify`, `/settle`
 * and `/supported` over HTTP, and the same in process. Each payment is captured
 * through `orders`, so it survives crashes, and one account can capture many at
 * the same time.
 *
 * `/settle` returns success once for a payment. Every later call gets
 * `invalid_exact_evm_nonce_already_used` with the transaction hash, unless its
 * caller has `deduplicates`. After a success, a reorganization can still undo
 * the transaction, which is only in a block and not final. Run a worker
 * (`orders.run`) too: it finishes captures for which a call stopped waiting.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { createFacilitator } from 'countersign/x402'
 * import type { Orders } from 'countersign/orders'
 *
 * export function serveX402(orders: Orders, key: string) {
 *   const facilitator = createFacilitator({
 *     orders,
 *     authorize: ({ headers }) =>
 *       headers.get('authorization') === `Bearer ${key}`
 *         ? { name: 'shop', gasPerDay: 50_000_000n }
 *         : undefined,
 *   })
 *   return facilitator.handle
 * }
 * ```
 */
export function createFacilitator(
  parameters: FacilitatorParameters,
): Facilitator {
  const facilitator = parseFacilitator(parameters, loadChannelScheme)
  const admit = (given: FacilitatorCaller): SettledCaller => {
    const caller = parseCaller(facilitator, given)
    if (caller) return caller
    throw new InvalidFieldError('caller', given, 'a plain object')
  }
  return {
    handle: (request) => serveFacilitator(facilitator, request),
    schemeFor: (given) => schemeOf(facilitator, admit(given), 'exact'),
    channelSchemeFor: async (given) => {
      const { loadChannels } = facilitator
      if (!loadChannels)
        throw new InvalidFieldError(
          'channels',
          undefined,
          'given to createFacilitator',
        )
      const caller = admit(given)
      const scheme = await loadChannels()
      // Opened here, because `getExtra` must answer at once.
      const receiverAuthorizer = await scheme.getAuthorizer(caller)
      return schemeOf(facilitator, caller, channelScheme, {
        receiverAuthorizer,
      })
    },
    supported: () => supportedBy(facilitator),
  }
}

/** Answers calls of one scheme for a caller in this process. */
function schemeOf(
  facilitator: FacilitatorContext,
  caller: SettledCaller,
  scheme: string,
  extra?: Record<string, unknown>,
): SchemeNetworkFacilitator {
  // A caller in this process has no connection that can close, so this signal
  // never aborts.
  const { signal } = new AbortController()
  const ask = (paymentPayload: unknown, paymentRequirements: unknown) => ({
    body: { paymentPayload, paymentRequirements },
    caller,
    signal,
  })
  return {
    scheme,
    caipFamily: 'eip155:*',
    getExtra: () => extra,
    getSigners: (network) => signersOn(facilitator, network),
    verify: (payload, requirements, _?: StockContext) =>
      answerVerify(facilitator, ask(payload, requirements)),
    settle: (payload, requirements, _?: StockContext) =>
      answerSettle(facilitator, ask(payload, requirements)),
  }
}

function signersOn({ context }: FacilitatorContext, network: string): string[] {
  return context.wallets
    .filter(({ submitter }) => `eip155:${submitter.chainId}` === network)
    .map(({ submitter }) => submitter.account)
}

const loadChannelScheme: LoadChannelScheme = async (facilitator, channels) => {
  const { openChannelScheme } = await import(
    './channelFacilitator/openChannelScheme.js'
  )
  return openChannelScheme(facilitator, channels)
}
