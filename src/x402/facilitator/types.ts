import type {
  SchemeNetworkFacilitator,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from '@x402/core/types'
import type { Address } from 'viem'
import type { Channels } from '../../channels/engine.js'
import type { MembersOf } from '../../core/checkMembers.js'
import type { AnswerAt } from '../../orders/engine.js'
import type { Orders } from '../../orders/index.js'

/**
 * A server that may verify and settle payments here. Your `authorize` returns
 * it for each request.
 */
export type FacilitatorCaller = {
  /**
   * Name of the caller, up to 128 ASCII characters. Never change it: only the
   * caller that first settled a payment may repeat the call, and it is
   * recognized by this name. The key that signs for its channels belongs to the
   * name too.
   */
  name: string
  /** Recipients it may settle payments to. @default those of the facilitator */
  payTo?: readonly Address[] | undefined
  /** Tokens it may settle payments in. @default those of the facilitator */
  assets?: readonly Address[] | undefined
  /**
   * Most gas that transactions for this caller may use in one day (UTC). One
   * that is in no block yet, or failed there, counts with the gas reserved for
   * it: `policy.maxCaptureGas` for a capture, an estimate for a deposit, claim
   * or refund of channels.
   * @default no limit
   */
  gasPerDay?: bigint | undefined
  /**
   * True if the caller itself remembers for which payments it has delivered.
   * Then every `/settle` of a captured payment returns success, not only the
   * first.
   * @default false
   */
  deduplicates?: boolean | undefined
  /**
   * Most that this caller's payments may put at risk at once, a decimal in
   * whole tokens. At risk is a payment that was answered when it was
   * pre-confirmed, until a block has it. @default `policy.mostAtRisk.total` of
   * the orders
   */
  mostAtRisk?: string | undefined
}

/** Parameters of {@link createFacilitator}. */
export type FacilitatorParameters = {
  /** The orders that capture the payments. Limits the tokens and recipients. */
  orders: Orders
  /**
   * Channels from `createChannels` of `countersign/channels`, for the same
   * orders. With them, the facilitator takes the scheme `batch-settlement`
   * too. @default only the scheme `exact`
   */
  channels?: Channels | undefined
  /**
   * Returns the caller of a request, found by its key or session. Return
   * `undefined` if nobody may send it: the answer is then 401.
   */
  authorize: (
    request: Request,
  ) => FacilitatorCaller | undefined | Promise<FacilitatorCaller | undefined>
  /** Path before all routes, such as `/facilitator`. @default '' */
  basePath?: string | undefined
  /** Recipients that payments may go to. @default all of the orders */
  payTo?: readonly Address[] | undefined
  /** Tokens that payments may be in. @default all of the orders */
  assets?: readonly Address[] | undefined
  /**
   * Whether to accept payers that are contracts. Their code runs in the
   * capture, and you pay its gas. `accept` also accepts channels without a
   * `payerAuthorizer`: if their payer is a contract, it can deny a voucher
   * before it is claimed.
   * @default 'refuse'
   */
  contractPayers?: 'accept' | 'refuse' | undefined
  /**
   * Milliseconds that a `/settle` call waits for its capture. After that it
   * answers `settlement_pending`. Servers of `@x402/core` wait 90 seconds.
   * @default 30_000
   */
  timeout?: number | undefined
  /**
   * When a `/settle` of the scheme `exact` succeeds; one of channels always
   * waits for a block. `included`: once a block has the capture.
   * `preconfirmed`: once the chain pre-confirms it, if the requirements have
   * `answerAt: 'preconfirmed'` in `extra`; the block can still leave it out.
   * Needs `preconfirmedUpTo`, and `policy.mostAtRisk` of the orders.
   * @default 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest payment to answer when it is pre-confirmed, a decimal in whole
   * tokens.
   */
  preconfirmedUpTo?: string | undefined
}

export const callerMembers: MembersOf<FacilitatorCaller> = {
  name: true,
  payTo: true,
  assets: true,
  gasPerDay: true,
  deduplicates: true,
  mostAtRisk: true,
}

/** Settles x402 payments for other servers, over HTTP or in this process. */
export type Facilitator = {
  /**
   * Answers `POST /verify`, `POST /settle` and `GET /supported`. Takes a
   * `Request` and returns a `Response`. Never rejects.
   */
  handle: (request: Request) => Promise<Response>
  /**
   * Returns a scheme that does the same for one caller in this process, without
   * HTTP. Register it in `x402Facilitator` of `@x402/core`.
   */
  schemeFor: (caller: FacilitatorCaller) => SchemeNetworkFacilitator
  /**
   * Like `schemeFor`, for the scheme `batch-settlement`. Register both.
   *
   * @throws {@link InvalidFieldError} when the facilitator has no `channels`.
   */
  channelSchemeFor: (
    caller: FacilitatorCaller,
  ) => Promise<SchemeNetworkFacilitator>
  /**
   * Returns the body that `GET /supported` answers with, without the caller's
   * `receiverAuthorizer`.
   */
  supported: () => SupportedResponse
}

/** Whether a payment can be settled, in the form of x402. */
export type Verified = VerifyResponse

/** The outcome of a settlement, in the form of x402. */
export type Settled = SettleResponse
