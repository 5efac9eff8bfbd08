import type {
  FacilitatorContext,
  SchemeNetworkFacilitator,
} from '@x402/core/types'
import { InvalidFieldError } from '../../core/errors.js'
import { answerSettle, answerVerify } from './answerCall.js'
import { parseCaller, parseFacilitator } from './parseFacilitator.js'
import { serveFacilitator, supportedBy } from './serveFacilitator.js'
import type { Facilitator, FacilitatorParameters } from './types.js'

/**
 * Settles x402 payments of the exact scheme for servers that use `@x402/core`:
 * `/verify`, `/settle` and `/supported` over HTTP, and the same in process.
 * Each payment is captured through `orders`, so it survives crashes, and one
 * account can capture many at the same time.
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
  const facilitator = parseFacilitator(parameters)
  return {
    handle: (request) => serveFacilitator(facilitator, request),
    schemeFor: (given): SchemeNetworkFacilitator => {
      const caller = parseCaller(facilitator, given)
      if (!caller)
        throw new InvalidFieldError('caller', given, 'a plain object')
      // A caller in this process has no connection that can close, so this
      // signal never aborts.
      const { signal } = new AbortController()
      const ask = (paymentPayload: unknown, paymentRequirements: unknown) => ({
        body: { paymentPayload, paymentRequirements },
        caller,
        signal,
      })
      return {
        scheme: 'exact',
        caipFamily: 'eip155:*',
        getExtra: () => undefined,
        getSigners: (network) => signersOn(facilitator, network),
        verify: (payload, requirements, _?: FacilitatorContext) =>
          answerVerify(facilitator, ask(payload, requirements)),
        settle: (payload, requirements, _?: FacilitatorContext) =>
          answerSettle(facilitator, ask(payload, requirements)),
      }
    },
    supported: () => supportedBy(facilitator),
  }
}

function signersOn(
  { context }: ReturnType<typeof parseFacilitator>,
  network: string,
): string[] {
  return context.wallets
    .filter(({ submitter }) => `eip155:${submitter.chainId}` === network)
    .map(({ submitter }) => submitter.account)
}
