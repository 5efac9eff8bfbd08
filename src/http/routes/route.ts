import type { Address } from 'viem'
import type * as z from 'zod'
import type { DestinationOrders } from '../../orders/DestinationOrders.js'
import type { DraftedPayment, Order } from '../../orders/model/types.js'
import type { Orders } from '../../orders/Orders.js'
import type { AnswerName } from '../schemas/answerSchemas.js'
import type { BodySchemas } from '../schemas/bodySchemas.js'
import type { StreamHub } from '../streams/streamHub.js'

/** A request whose route, sender and shape are known. */
type Call = {
  request: Request
  /** Aborts when nobody waits for the answer any more. */
  signal: AbortSignal
  hub: StreamHub
  /** As the address names it; empty where it names none. */
  orderId: string
  /** Of the shape the route asks for. */
  body: unknown
  query: unknown
}

export type BuyerCall = Call & {
  orders: Orders
  /** The order whose token was shown, as it was then. */
  order: Order
  payment: DraftedPayment | undefined
}

export type MerchantCall = Call & {
  /** Those of the principal. */
  orders: DestinationOrders
  recipients: readonly Address[]
  basePath: string
  /** Runs one comparison with the chain at a time for each principal. */
  alone: <result>(work: () => Promise<result>) => Promise<result>
}

/** Streams of server-sent events, one for buyers and one for merchants. */
type StreamName = 'BuyerEventStream' | 'OrderEventStream'

export type BodyName = keyof BodySchemas

type RouteFields = {
  /** What generated clients call it. */
  name: string
  method: 'GET' | 'POST'
  /** Below the base path; segments in braces are filled in. */
  path: string
  summary: string
  body?: BodyName | undefined
  query?: z.ZodType | undefined
  /** Sends many requests to nodes, so pages of other sites may not start it. */
  isExpensive?: true | undefined
  /** Headers that say something here, with what. */
  headers?: Readonly<Record<string, string>> | undefined
  /** What is answered when all is well, by status. */
  answers: Readonly<Record<number, AnswerName | StreamName | 'openApi'>>
}

/** The body that a schema of this name lets pass. */
type BodyOf<name extends BodyName> = z.infer<BodySchemas[name]>

type Asked<call, name extends BodyName, query> = RouteFields & {
  body?: name | undefined
  query?: z.ZodType<query> | undefined
  run(call: call & { body: BodyOf<name>; query: query }): Promise<Response>
}

/** What is served at one address by one method. */
export type Route = RouteFields &
  (
    | { who: 'buyer'; run(call: BuyerCall): Promise<Response> }
    | { who: 'merchant'; run(call: MerchantCall): Promise<Response> }
    | { who: 'public'; run(): Promise<Response> }
  )

/** A route for the buyer who shows the token of the order. */
export function buyerRoute<name extends BodyName = never>(
  route: Asked<BuyerCall, name, unknown>,
): Route {
  return { ...route, who: 'buyer' }
}

/** A route for a merchant that `authorize` knows. */
export function merchantRoute<name extends BodyName = never, query = never>(
  route: Asked<MerchantCall, name, query>,
): Route {
  return { ...route, who: 'merchant' }
}
