import type { PaymentRequirements } from '@x402/core/types'
import type { Address, Hash, Hex } from 'viem'
import type { Token } from '../../chain/state/getToken.js'
import type { MembersOf } from '../../core/checkMembers.js'
import type { Instance } from '../../orders/createInstance.js'
import type { DestinationOrders } from '../../orders/DestinationOrders.js'
import type { OrdersContext } from '../../orders/model/types.js'
import type { PaymentFlow } from '../wire/requirements.js'

/** What one request costs. */
export type X402Offer = {
  /** A decimal such as `'0.01'`, in whole tokens. */
  amount: string
  /** @default the only one of the orders */
  chainId?: number | undefined
  /** @default the only one of the orders */
  token?: Address | undefined
  /** @default the only one of the orders */
  recipient?: Address | undefined
  /**
   * `authorization`: work, then capture; the answer is held back until the
   * capture is in a block. `upfront`: capture, then work.
   * @default 'authorization'
   */
  flow?: PaymentFlow | undefined
  /** Seconds from signing until the payment expires. @default 300 */
  maxTimeoutSeconds?: number | undefined
  /** What a client is shown of the resource. */
  description?: string | undefined
  /** What a client is shown of the answer. */
  mimeType?: string | undefined
  /** Whether a client must send a payment identifier. @default 'optional' */
  identifier?: 'optional' | 'required' | undefined
  /**
   * What a handler that failed leaves. `keep`: the same payment may ask again
   * for the same thing. `giveUp`: the order is voided, or raises `refundDue`
   * if it was captured.
   * @default 'keep' with `authorization`, 'giveUp' with `upfront`
   */
  afterFailure?: 'keep' | 'giveUp' | undefined
  /**
   * True if the handler may run again for the same `orderId` after a process
   * died in it. Otherwise the payment is given up then. @default false
   */
  repeatable?: boolean | undefined
  /**
   * True to pass the answer on as it arrives, and not to keep it. Only with
   * `upfront`. @default false
   */
  stream?: boolean | undefined
}

export const offerMembers: MembersOf<X402Offer> = {
  amount: true,
  chainId: true,
  token: true,
  recipient: true,
  flow: true,
  maxTimeoutSeconds: true,
  description: true,
  mimeType: true,
  identifier: true,
  afterFailure: true,
  repeatable: true,
  stream: true,
}

/** What {@link createX402Gate} takes. */
export type X402GateParameters = {
  /** Orders of `createOrders`, or of its `within`. */
  orders: DestinationOrders
  /** What is sold, by a name of yours. */
  offers: Readonly<Record<string, X402Offer>>
  /**
   * The address of the resource, if a proxy changes that of the request.
   * @default the request's own
   */
  resource?: ((request: Request) => string) | undefined
  /** Most payments of one payer that may be open at once. @default 16 */
  mostOpen?: number | undefined
  /** Longest request body, in bytes. @default 1_048_576 */
  mostRequestBytes?: number | undefined
  /** Longest answer that is kept, in bytes. @default 1_048_576 */
  mostAnswerBytes?: number | undefined
  /** Milliseconds a request waits for a capture. @default 30_000 */
  timeout?: number | undefined
  /** Seconds an answer is kept after the payment expired. @default 86_400n */
  keepFor?: bigint | undefined
  /**
   * Identity of the database that the recipients were open in before, to move
   * them to this one. The error that refuses to start names it.
   */
  takeOverFrom?: string | undefined
}

export const gateMembers: MembersOf<X402GateParameters> = {
  orders: true,
  offers: true,
  resource: true,
  mostOpen: true,
  mostRequestBytes: true,
  mostAnswerBytes: true,
  timeout: true,
  keepFor: true,
  takeOverFrom: true,
}

/** What a handler is told of the payment it works for. */
export type X402Payment = {
  /** The same for the same payment: recognize work that is done by it. */
  orderId: string
  /** Name of the offer. */
  offer: string
  payer: Address
  /** A decimal in whole tokens. */
  amount: string
  /** The capture, with `upfront`. */
  transaction: Hash | undefined
}

/** Does the work that is paid for. */
export type X402Handler = (
  request: Request,
  payment: X402Payment,
) => Response | Promise<Response>

/** What a request has to pay, and who works for it. */
export type AnswerParameters = {
  /** Name of an offer, or names of several to choose from. */
  offer: string | readonly string[]
  handler: X402Handler
}

/** Stands in front of handlers, and lets paid requests pass. */
export type X402Gate = {
  /**
   * Opens the store, proves the tokens, and claims the recipients for this
   * database. The first request does it otherwise.
   *
   * @throws {@link X402SetupError} when a recipient is open in another database.
   */
  open(): Promise<void>
  /** Answers one request. */
  answer(request: Request, parameters: AnswerParameters): Promise<Response>
  /** Makes a fetch handler of a handler that is to be paid. */
  protect(
    offer: string | readonly string[],
    handler: X402Handler,
  ): (request: Request) => Promise<Response>
}

/** An offer with its defaults, and where it is paid to. */
export type SettledOffer = {
  name: string
  amount: string
  chainId: number
  token: Address
  client: OrdersContext['tokens'][number]['client']
  recipient: Address
  flow: PaymentFlow
  maxTimeoutSeconds: number
  description: string | undefined
  mimeType: string | undefined
  identifier: 'optional' | 'required'
  afterFailure: 'keep' | 'giveUp'
  repeatable: boolean
  stream: boolean
}

/** An offer as the chain proves it. */
export type Terms = {
  offer: SettledOffer
  token: Token
  value: bigint
  requirements: PaymentRequirements
}

/** What all requests of a gate share. */
export type GateDesk = {
  orders: DestinationOrders
  context: OrdersContext
  instance: Instance
  offers: ReadonlyMap<string, SettledOffer>
  resource: (request: Request) => string
  mostOpen: number
  mostRequestBytes: number
  mostAnswerBytes: number
  timeout: number
  keepFor: bigint
  takeOverFrom: string | undefined
  /** Names this gate in notes and in its lease. */
  owner: string
  /** Payments that this process is working on, by order id. */
  working: Map<string, Run>
}

/** Work on one payment, with what it is bound to. */
export type Run = { bound: Hex; ended: Promise<Outcome | Refusal> }

/** Makes an answer that refuses the payment, once for each request. */
export type Refusal = () => Response

/** A response that can be kept and given again. */
export type KeptResponse = {
  status: number
  headers: readonly (readonly [string, string])[]
  /** Base64. */
  body: string
}

/**
 * How far the exchange of one payment has come. `paying`: captured before the
 * work. `working`: the handler runs. `done`: its answer is kept. `failed`: it
 * may run again. `over`: it failed, and never runs again.
 */
type Step = 'paying' | 'working' | 'done' | 'failed' | 'over'

/** What a note keeps of an exchange. */
export type Exchange = {
  /** Hash of what the payment is bound to. */
  bound: Hex
  offer: string
  step: Step
  /** The gate that works on it. */
  owner: string
  response?: KeptResponse | undefined
}

/** How an exchange ended for now, for everybody who waits for it. */
export type Outcome =
  | {
      kind: 'paid'
      response: KeptResponse | undefined
      live?: Response | undefined
      transaction: Hash
    }
  /** The handler failed: its own answer, and what was captured. */
  | {
      kind: 'failed'
      response: KeptResponse
      transaction: Hash | undefined
    }
  /** The capture was refused. */
  | { kind: 'refused'; reason: string }
  /** Nothing was taken, and this payment buys nothing any more. */
  | { kind: 'gone' }
  /** The capture, or another process, needs more time. */
  | { kind: 'pending'; transaction: Hash | undefined }
