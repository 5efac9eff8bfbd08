import type { Address } from 'viem'
import type * as z from 'zod'
import type {
  AnyDraftedPayment,
  DestinationOrders,
  Order,
  Orders,
} from '../../orders/index.js'
import type { AnswerName } from '../schemas/answerSchemas.js'
import type { BodySchemas } from '../schemas/bodySchemas.js'
import type { StreamHub } from '../streams/streamHub.js'
import type { RefundLimit } from './refundLimit.js'

/** A request whose route, sender, body and query have been checked. */
type Call = {
  request: Request
  /** Aborts when the client has left or the request has timed out. */
  signal: AbortSignal
  hub: StreamHub
  /** The ids in the address; empty on routes without one. */
  orderId: string
  refundId: string
  subscriptionId: string
  /** Checked against the route's schema. */
  body: unknown
  query: unknown
}

export type BuyerCall = Call & {
  orders: Orders
  /** The order of the buyer's token, as loaded when the token was checked. */
  order: Order
  payment: AnyDraftedPayment | undefined
}

export type MerchantCall = Call & {
  /** The orders of the principal's recipients. */
  orders: DestinationOrders
  recipients: readonly Address[]
  /**
   * The orders of all recipients, for routes that act on the whole database.
   */
  all: Orders
  /** How much the principal may refund; absent if nothing. */
  refunds: RefundLimit | undefined
  /** True if the principal may act on the whole database. */
  operates: boolean
  basePath: string
  /** Runs one comparison with the chain at a time for each principal. */
  alone: <result>(work: () => Promise<result>) => Promise<result>
}

/** Streams of server-sent events, one for buyers and one for merchants. */
type StreamName = 'BuyerEventStream' | 'OrderEventStream'

export type BodyName = keyof BodySchemas

type RouteFields = {
  /** Name of the operation in generated clients. */
  name: string
  method: 'GET' | 'POST'
  /** Path below the base path; `{…}` is a parameter. */
  path: string
  summary: string
  body?: BodyName | undefined
  query?: z.ZodType | undefined
  /**
   * True if the route sends many requests to nodes. Refused to pages of other
   * sites, which could start it again and again from a merchant's browser.
   */
  isExpensive?: true | undefined
  /** Request headers that this route uses, each with its description. */
  headers?: Readonly<Record<string, string>> | undefined
  /** Successful answers by HTTP status. */
  answers: Readonly<
    Record<number, AnswerName | StreamName | 'ledgerFile' | 'openApi'>
  >
}

/** The parsed body of the schema with this name. */
type BodyOf<name extends BodyName> = z.infer<BodySchemas[name]>

type Asked<call, name extends BodyName, query> = RouteFields & {
  body?: name | undefined
  query?: z.ZodType<query> | undefined
  run(call: call & { body: BodyOf<name>; query: query }): Promise<Response>
}

/** One operation: a method at an address. */
export type Route = RouteFields &
  (
    | { who: 'buyer'; run(call: BuyerCall): Promise<Response> }
    | { who: 'merchant'; run(call: MerchantCall): Promise<Response> }
    | { who: 'public'; run(): Promise<Response> }
  )

/** Makes a route for a buyer who sends the token of the order. */
export function buyerRoute<name extends BodyName = never>(
  route: Asked<BuyerCall, name, unknown>,
): Route {
  return { ...route, who: 'buyer' }
}

/** Makes a route for a merchant that `authorize` accepts. */
export function merchantRoute<name extends BodyName = never, query = never>(
  route: Asked<MerchantCall, name, query>,
): Route {
  return { ...route, who: 'merchant' }
}
