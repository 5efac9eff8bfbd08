import type {
  SchemeNetworkFacilitator,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from '@x402/core/types'
import type { Address } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { AnswerAt } from '../../orders/engine.js'
import type { Orders } from '../../orders/index.js'

/** A server that may verify and settle payments here, as you know it. */
export type FacilitatorCaller = {
  /**
   * Name of the caller. Do not change it: a payment belongs to the caller that
   * settles it first. Up to 128 ASCII characters.
   */
  name: string
  /** Recipients it may settle payments to. @default those of the facilitator */
  payTo?: readonly Address[] | undefined
  /** Tokens it may settle payments in. @default those of the facilitator */
  assets?: readonly Address[] | undefined
  /**
   * Gas that captures for this caller may use in one day (UTC). A payment that
   * is being captured counts with the most gas a capture may use.
   * @default no limit
   */
  gasPerDay?: bigint | undefined
  /**
   * True if the caller itself remembers which payments it has served. Then
   * every `/settle` of a captured payment returns success, not only the first.
   * @default false
   */
  deduplicates?: boolean | undefined
  /**
   * Most that captures for this caller may be at risk at once, a decimal in
   * whole tokens. @default `policy.mostAtRisk.total` of the orders
   */
  mostAtRisk?: string | undefined
}

/** Parameters of {@link createFacilitator}. */
export type FacilitatorParameters = {
  /** The orders that capture the payments. Limits the tokens and recipients. */
  orders: Orders
  /**
   * Returns the caller of a request, by its key or session. Return nothing for
   * a stranger, who gets a 401.
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
   * capture, on your gas. @default 'refuse'
   */
  contractPayers?: 'accept' | 'refuse' | undefined
  /**
   * Milliseconds a `/settle` waits for its capture before it says
   * `settlement_pending`. Servers of `@x402/core` wait 90 seconds.
   * @default 30_000
   */
  timeout?: number | undefined
  /**
   * `preconfirmed`: a `/settle` whose requirements say `answerAt:
   * 'preconfirmed'` in `extra` succeeds once the block being made shows the
   * capture, which it can still drop. Needs `preconfirmedUpTo`, and
   * `policy.mostAtRisk` of the orders. @default 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest payment to answer at `preconfirmed`, a decimal in whole tokens.
   */
  preconfirmedUpTo?: string | undefined
}

export const facilitatorMembers: MembersOf<FacilitatorParameters> = {
  orders: true,
  authorize: true,
  basePath: true,
  payTo: true,
  assets: true,
  contractPayers: true,
  timeout: true,
  answerAt: true,
  preconfirmedUpTo: true,
}

export const callerMembers: MembersOf<FacilitatorCaller> = {
  name: true,
  payTo: true,
  assets: true,
  gasPerDay: true,
  deduplicates: true,
  mostAtRisk: true,
}

/** A facilitator of x402 payments over orders. */
export type Facilitator = {
  /**
   * Answers `POST /verify`, `POST /settle` and `GET /supported`; a
   * fetch-standard handler. Never rejects.
   */
  handle: (request: Request) => Promise<Response>
  /**
   * Returns the same for one caller in this process. Register it in
   * `x402Facilitator` of `@x402/core`.
   */
  schemeFor: (caller: FacilitatorCaller) => SchemeNetworkFacilitator
  /** Returns the answer of `GET /supported`. */
  supported: () => SupportedResponse
}

/** Whether a payment can be settled, in the form of x402. */
export type Verified = VerifyResponse

/** The outcome of a settlement, in the form of x402. */
export type Settled = SettleResponse
