import type { Address } from 'viem'
import type * as z from 'zod'
import type {
  AnyDraftedPayment,
  DestinationOrders,
  Order,
  Orders,
} from '../../orders/index.js'
import type { Subscriptions } from '../../subscriptions/Subscriptions.js'
import type { Subscription } from '../../subscriptions/schedule/showSubscription.js'
import type { AnswerName } from '../schemas/answerSchemas.js'
import type { BodySchemas } from '../schemas/bodySchemas.js'
import type { StreamHub } from '../streams/streamHub.js'
import type { RefundLimit } from './refundLimit.js'

/** A request after its address, sender, body and query were checked. */
type Call = {
  request: Request
  /** Aborts when the client disconnects or the request times out. */
  signal: AbortSignal
  hub: StreamHub
  /** The ids in the address; empty on routes without one. */
  orderId: string
  refundId: string
  subscriptionId: string
  /** Body and query, checked against the schemas of the route. */
  body: unknown
  query: unknown
}

export type BuyerCall = Call & {
  orders: Orders
  /**
   * The order that the buyer's token belongs to, as loaded when the token was
   * checked.
   */
  order: Order
  payment: AnyDraftedPayment | undefined
}

export type SubscriberCall = Call & {
  subscriptions: Subscriptions
  /**
   * The subscription that the buyer's token belongs to, as loaded when the
   * token was checked.
   */
  subscription: Subscription
}

export type MerchantCall = Call & {
  /** Access to the orders of the merchant's recipients only. */
  orders: DestinationOrders
  recipients: readonly Address[]
  /**
   * Access to the orders of all recipients, for routes that act on the whole
   * database.
   */
  all: Orders
  /** How much the merchant may refund. Absent if refunds are not allowed. */
  refunds: RefundLimit | undefined
  /** True if the merchant may act on the whole database. */
  operates: boolean
  basePath: string
  /**
   * Runs a comparison of database and chain, at most one at a time for each
   * merchant.
   */
  alone: <result>(work: () => Promise<result>) => Promise<result>
}

/** What a probe may use. It is sent without a sign-in. */
type ProbeCall = {
  orders: Pick<Orders, 'liveness' | 'readiness'>
  /** Aborts when the process begins to stop. */
  stopping: AbortSignal | undefined
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
   * True if the route sends many requests to nodes. Such a route refuses pages
   * of other sites, which could otherwise start it again and again from a
   * merchant's browser.
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
    | { who: 'subscriber'; run(call: SubscriberCall): Promise<Response> }
    | { who: 'merchant'; run(call: MerchantCall): Promise<Response> }
    | { who: 'prober'; run(call: ProbeCall): Promise<Response> }
    | { who: 'public'; run(): Promise<Response> }
  )

/** Makes a route for a buyer who sends the token of the order. */
export function buyerRoute<name extends BodyName = never>(
  route: Asked<BuyerCall, name, unknown>,
): Route {
  return { ...route, who: 'buyer' }
}

/** Makes a route for a buyer who sends the token of the subscription. */
export function subscriberRoute<name extends BodyName = never>(
  route: Asked<SubscriberCall, name, unknown>,
): Route {
  return { ...route, who: 'subscriber' }
}

/** True for a route whose requests carry a buyer's token. */
export function isForBuyers({ who }: Pick<Route, 'who'>): boolean {
  return who === 'buyer' || who === 'subscriber'
}

/** True for a route that answers with a stream of events. */
export function isStream({ answers }: Pick<Route, 'answers'>): boolean {
  return String(answers[200]).endsWith('Stream')
}

/** Makes a route for a merchant that `authorize` accepts. */
export function merchantRoute<name extends BodyName = never, query = never>(
  route: Asked<MerchantCall, name, query>,
): Route {
  return { ...route, who: 'merchant' }
}
