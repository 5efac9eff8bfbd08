import type {
  SchemeNetworkFacilitator,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from '@x402/core/types'
import type { Address } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { Orders } from '../../orders/Orders.js'

/** A server that may verify and settle payments here, as you know it. */
export type FacilitatorCaller = {
  /**
   * Names the caller, always in the same way: a payment belongs to the caller
   * that settles it first. Up to 128 ASCII characters.
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
   * The caller itself keeps which payments it has served. Then each `/settle` of
   * a captured payment gets the success, not only the first. @default false
   */
  deduplicates?: boolean | undefined
}

/** What {@link createFacilitator} takes. */
export type FacilitatorParameters = {
  /** Captures the payments. Their tokens and recipients are the most that is served. */
  orders: Orders
  /**
   * Says which caller a request is from, by its key or session; nothing for a
   * stranger, who gets a 401.
   */
  authorize: (
    request: Request,
  ) => FacilitatorCaller | undefined | Promise<FacilitatorCaller | undefined>
  /** Where the routes begin, such as `/facilitator`. @default '' */
  basePath?: string | undefined
  /** Recipients that payments may go to. @default all of the orders */
  payTo?: readonly Address[] | undefined
  /** Tokens that payments may be in. @default all of the orders */
  assets?: readonly Address[] | undefined
  /**
   * Whether payers that are contracts are taken. Their code runs when the
   * capture is sent, on your gas. @default 'refuse'
   */
  contractPayers?: 'accept' | 'refuse' | undefined
  /**
   * Milliseconds a `/settle` waits for its capture before it says
   * `settlement_pending`. Servers of `@x402/core` wait 90 seconds.
   * @default 30_000
   */
  timeout?: number | undefined
}

export const facilitatorMembers: MembersOf<FacilitatorParameters> = {
  orders: true,
  authorize: true,
  basePath: true,
  payTo: true,
  assets: true,
  contractPayers: true,
  timeout: true,
}

export const callerMembers: MembersOf<FacilitatorCaller> = {
  name: true,
  payTo: true,
  assets: true,
  gasPerDay: true,
  deduplicates: true,
}

/** A facilitator of x402 payments over orders. */
export type Facilitator = {
  /**
   * Answers `POST /verify`, `POST /settle` and `GET /supported`; a
   * fetch-standard handler. Never rejects.
   */
  handle: (request: Request) => Promise<Response>
  /**
   * The same for one caller in this process, to register in `x402Facilitator`
   * of `@x402/core`.
   */
  schemeFor: (caller: FacilitatorCaller) => SchemeNetworkFacilitator
  /** What `GET /supported` answers. */
  supported: () => SupportedResponse
}

/** Whether a payment could be settled, as x402 writes it. */
export type Verified = VerifyResponse

/** What became of a settlement, as x402 writes it. */
export type Settled = SettleResponse
