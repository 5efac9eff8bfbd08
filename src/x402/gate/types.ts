import type { PaymentRequirements } from '@x402/core/types'
import type { Address, Hash, Hex } from 'viem'
import type { Token } from '../../chain/state/getToken.js'
import type { MembersOf } from '../../core/checkMembers.js'
import type {
  AnswerAt,
  EarlyLimits,
  Instance,
  OrdersContext,
  StoredOrder,
} from '../../orders/engine.js'
import type { DestinationOrders } from '../../orders/index.js'
import type { NoteRecord, OrderRecord } from '../../store/types.js'
import type { PaymentFlow } from '../wire/requirements.js'

/** What one request costs, and how it is sold. */
export type X402Offer = {
  /** A decimal such as `'0.01'`, in whole tokens. */
  amount: string
  /** The chain to pay on. @default the only one of the orders */
  chainId?: number | undefined
  /** The token to pay in. @default the only one of the orders */
  token?: Address | undefined
  /** The account that is paid. @default the only one of the orders */
  recipient?: Address | undefined
  /**
   * `authorization`: the handler works, then the payment is captured, and the
   * answer waits until a block has the capture. `upfront`: the payment is
   * captured first, then the handler works.
   * @default 'authorization'
   */
  flow?: PaymentFlow | undefined
  /**
   * When to answer. `included`: once a block has the capture. `preconfirmed`:
   * once the chain pre-confirms it; the block can still leave it out, and you
   * lose the amount. Needs `preconfirmedUpTo`, and `policy.mostAtRisk` of the
   * orders. Above these limits, and on a chain without pre-confirmations, the
   * answer waits for a block.
   * @default 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest payment to answer at `preconfirmed`, a decimal in whole tokens.
   */
  preconfirmedUpTo?: string | undefined
  /**
   * Most that may be at risk at once: payments of this offer that were answered
   * at `preconfirmed` and are in no block yet. A decimal in whole tokens.
   * @default `policy.mostAtRisk.total` of the orders
   */
  mostAtRisk?: string | undefined
  /** Seconds from signing until the payment expires. @default 300 */
  maxTimeoutSeconds?: number | undefined
  /** What is sold, in words. Clients show it. */
  description?: string | undefined
  /** MIME type of the answer, for clients. */
  mimeType?: string | undefined
  /**
   * Whether a client must send a payment identifier, an id by which it
   * recognizes its payment.
   * @default 'optional'
   */
  identifier?: 'optional' | 'required' | undefined
  /**
   * What happens after a handler failed. `keep`: the client can send the same
   * request with the same payment again. `giveUp`: the order is voided, or
   * raises `refundDue` if it was captured.
   * @default 'keep' with `authorization`, 'giveUp' with `upfront`
   */
  afterFailure?: 'keep' | 'giveUp' | undefined
  /**
   * True if the handler may run a second time for the same `orderId`, after a
   * process died while it ran. If false, the payment is given up then: its
   * order is voided, or raises `refundDue` if it was captured.
   * @default false
   */
  repeatable?: boolean | undefined
  /**
   * True to send the answer to the client as it comes, and not to store it.
   * Only with `upfront`. Has no effect in Express, where the answer is
   * collected and stored.
   * @default false
   */
  stream?: boolean | undefined
}

export const offerMembers: MembersOf<X402Offer> = {
  amount: true,
  chainId: true,
  token: true,
  recipient: true,
  flow: true,
  answerAt: true,
  preconfirmedUpTo: true,
  mostAtRisk: true,
  maxTimeoutSeconds: true,
  description: true,
  mimeType: true,
  identifier: true,
  afterFailure: true,
  repeatable: true,
  stream: true,
}

/** Parameters of {@link createX402Gate}. */
export type X402GateParameters = {
  /** Orders of `createOrders`, or of its `within`. */
  orders: DestinationOrders
  /** What is sold, by a name of yours. */
  offers: Readonly<Record<string, X402Offer>>
  /**
   * Returns the URL of the resource, if a proxy changes the URL of the request.
   * @default the URL of the request
   */
  resource?: ((request: Request) => string) | undefined
  /** Most payments of one payer that may be open at once. @default 16 */
  mostOpen?: number | undefined
  /** Longest request body, in bytes. @default 1_048_576 */
  mostRequestBytes?: number | undefined
  /** Longest answer that is kept, in bytes. @default 1_048_576 */
  mostAnswerBytes?: number | undefined
  /**
   * Milliseconds that a request waits for its capture, and that storing the
   * answer is tried.
   * @default 30_000
   */
  timeout?: number | undefined
  /**
   * Seconds after the payment's expiry until the stored answer may be removed.
   * @default 86_400n
   */
  keepFor?: bigint | undefined
  /**
   * Moves the recipients from another database to this one. Pass the identity
   * of the other database, which the error at the start names. Only when no
   * gate uses that one any more: both would sell for the same payment.
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

/** The payment that a handler works for. */
export type X402Payment = {
  /**
   * Equal for equal payments. Use it to recognize work that you have already
   * done.
   */
  orderId: string
  /** Name of the offer. */
  offer: string
  payer: Address
  /** A decimal in whole tokens. */
  amount: string
  /** Hash of the capture with `upfront`; `undefined` otherwise. */
  transaction: Hash | undefined
}

/** Does the paid work. */
export type X402Handler = (
  request: Request,
  payment: X402Payment,
) => Response | Promise<Response>

/** The offers that pay for a request, and the handler that does the work. */
export type AnswerParameters = {
  /** Name of an offer, or names of several to choose from. */
  offer: string | readonly string[]
  handler: X402Handler
  /**
   * Pass `false` if your server cannot stream. The answer is then stored like
   * others, even if the offer has `stream`.
   */
  stream?: false | undefined
}

/** Lets only paid requests pass to handlers. */
export type X402Gate = {
  /** Longest answer that is kept, in bytes. */
  readonly mostAnswerBytes: number
  /**
   * Opens the store, checks the tokens against the chain, and records that this
   * database takes the payments to these recipients. If you do not call it, the
   * first request does.
   *
   * @throws {@link X402SetupError} when a recipient is open in another
   * database.
   */
  claimRecipients(): Promise<void>
  /**
   * Answers one request. Faults of the node or the database become answers,
   * too. Throws what a handler throws to make its framework answer, such as
   * `redirect()` and `notFound()` of Next.js: then nothing is sold.
   *
   * @throws {@link InvalidFieldError} when the gate has no offer of this name.
   */
  answer(request: Request, parameters: AnswerParameters): Promise<Response>
  /**
   * Turns a paid handler into a fetch handler.
   *
   * @throws {@link InvalidFieldError} at a request, when the gate has no offer
   * of this name.
   */
  protect(
    offer: string | readonly string[],
    handler: X402Handler,
  ): (request: Request) => Promise<Response>
}

/** An offer with its defaults, and its destination. */
export type SettledOffer = {
  name: string
  amount: string
  chainId: number
  token: Address
  client: OrdersContext['tokens'][number]['client']
  recipient: Address
  flow: PaymentFlow
  /** Limits of answers at `preconfirmed`; absent if there are none. */
  early: EarlyLimits | undefined
  maxTimeoutSeconds: number
  description: string | undefined
  mimeType: string | undefined
  identifier: 'optional' | 'required'
  afterFailure: 'keep' | 'giveUp'
  repeatable: boolean
  stream: boolean
}

/** An offer with its token, which was checked against the chain. */
export type Terms = {
  offer: SettledOffer
  token: Token
  value: bigint
  requirements: PaymentRequirements
}

/** The state that all requests of a gate share. */
export type GateContext = {
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
  /** Random name of this gate, by which its notes and its lease are found. */
  owner: string
  keepAnswer: KeepAnswer
  loadKnown: (wanted: WantedPayment) => Promise<KnownPayment>
  /** Payments that this process is working on, by order id. */
  working: Map<string, Run>
  /** Order ids of the streams that this process is passing on. */
  streams: Set<string>
  /** How handlers ended, where storing it failed. By key of their notes. */
  unstored: Map<string, WorkEnd>
}

/** Running work on a payment, and the hash of what the payment is good for. */
export type Run = {
  bound: Hex
  ended: Promise<Outcome | Refusal>
  /** The requests that wait for the outcome, the first one first. */
  waiting: Request[]
}

/**
 * Builds the answer that refuses a payment. Called once for each waiting
 * request, because a response can be read only once.
 */
export type Refusal = () => Response

/** A response in the form in which answers are stored. */
export type KeptResponse = {
  status: number
  /** The reason phrase, if it is not the usual one. */
  statusText?: string | undefined
  headers: readonly (readonly [string, string])[]
  /** Base64. */
  body: string
}

/** How a handler ended, with its answer. */
export type Finished =
  /** With an answer that is sent to the client as it comes. */
  | { kind: 'live'; response: Response; transaction: Hash }
  | { kind: 'good'; response: KeptResponse }
  | { kind: 'failed'; response: KeptResponse; signal?: Signal | undefined }

/** What a handler threw to make its framework answer, such as a redirect. */
export type Signal = { thrown: unknown }

/** How the handler for a payment ended, with the capture if it came before. */
export type WorkEnd = {
  note: ExchangeNote
  finished: Exclude<Finished, { kind: 'live' }> | { kind: 'passedOn' }
  transaction?: Hash | undefined
  /** The order, if this process has just written it: saves loading it. */
  stored?: StoredOrder | undefined
}

/**
 * How far the work for one payment has come. `paying`: the capture comes first
 * and is not done. `working`: the handler runs, or its stream is being sent.
 * `done`: the answer is stored, or its stream has ended. `failed`: the handler
 * failed and may run again. `over`: nothing more is done for this payment.
 */
type Step = 'paying' | 'working' | 'done' | 'failed' | 'over'

/** The record of how far the work for a payment has come. */
export type Exchange = {
  /** Hash of all that the payment is good for. */
  bound: Hex
  offer: string
  step: Step
  /** Name of the gate that works on it. */
  owner: string
  /** The answer, sealed. */
  answer?: string | undefined
}

/** The payment of a request, to look up in the store. */
export type WantedPayment = {
  orderId: string
  /** Payment nonce. */
  nonce: Hex
  /** Hash of the payload. */
  payload: Hex
  /** Key of the store's note about the payment identifier. */
  identifier: string | undefined
}

/** What the store knows about a payment. */
export type KnownPayment = {
  note: ExchangeNote | undefined
  /** True if the payment nonce belongs to an order that no gate made. */
  isSpent: boolean
  /** True if the payment identifier belongs to another payload. */
  conflict: boolean
}

/** A note of the store with an {@link Exchange} as its data. */
export type ExchangeNote = Omit<NoteRecord, 'data'> & { data: Exchange }

/** A sealed answer to store. */
export type AnswerToKeep = {
  note: ExchangeNote
  answer: string
  orderId: string
  /** True to request the capture in the same unit of work. */
  captures: boolean
  /** The order, if this process has just written it: saves loading it. */
  stored: StoredOrder | undefined
  /** Limits for an answer at `preconfirmed`, if `captures`. */
  early: EarlyLimits | undefined
}

/**
 * The order after the answer was stored; absent if its capture was not
 * requested with it.
 */
export type KeptAnswer = { order: OrderRecord | undefined }

/**
 * Stores an answer and requests its capture. Returns `undefined`, and writes
 * nothing, when another process changed the record first.
 */
export type KeepAnswer = (
  answer: AnswerToKeep,
) => Promise<KeptAnswer | undefined>

/** How the work for a payment ended, for all requests that wait for it. */
export type Outcome =
  | {
      kind: 'paid'
      response: KeptResponse | undefined
      /** Begins to send the stream to a client. Called once. */
      stream?: ((client: AbortSignal) => Response) | undefined
      transaction: Hash
    }
  /**
   * The handler failed. Carries its answer, and the capture if there was one.
   */
  | {
      kind: 'failed'
      response: KeptResponse
      transaction: Hash | undefined
    }
  /** The capture was refused. */
  | { kind: 'refused'; reason: string }
  /**
   * This payment buys nothing any more. It was not captured, or the money is to
   * be refunded.
   */
  | { kind: 'gone' }
  /** The handler threw to make its framework answer. Nothing was sold. */
  | { kind: 'signal'; signal: Signal }
  /**
   * The capture or another process needs more time than the request may wait.
   */
  | { kind: 'pending'; transaction: Hash | undefined }
