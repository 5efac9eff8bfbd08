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
   * `authorization`: work, then capture. The answer waits until the capture is
   * in a block. `upfront`: capture, then work.
   * @default 'authorization'
   */
  flow?: PaymentFlow | undefined
  /**
   * When to answer. `included`: once the capture is in a block. `preconfirmed`:
   * once the block being made shows it, which it can still drop. Needs
   * `preconfirmedUpTo`, and `policy.mostAtRisk` of the orders; above these, and
   * on a chain without pre-confirmations, the answer waits for a block.
   * @default 'included'
   */
  answerAt?: AnswerAt | undefined
  /**
   * The largest payment to answer at `preconfirmed`, a decimal in whole tokens.
   */
  preconfirmedUpTo?: string | undefined
  /**
   * Most of this offer that may be at risk at once: answered at `preconfirmed`,
   * and shown by no block. A decimal in whole tokens.
   * @default `policy.mostAtRisk.total` of the orders
   */
  mostAtRisk?: string | undefined
  /** Seconds from signing until the payment expires. @default 300 */
  maxTimeoutSeconds?: number | undefined
  /** Description of the resource for clients. */
  description?: string | undefined
  /** MIME type of the answer, for clients. */
  mimeType?: string | undefined
  /** Whether a client must send a payment identifier. @default 'optional' */
  identifier?: 'optional' | 'required' | undefined
  /**
   * What happens after a handler failed. `keep`: the same payment may ask again
   * for the same thing. `giveUp`: the order is voided, or raises `refundDue` if
   * it was captured.
   * @default 'keep' with `authorization`, 'giveUp' with `upfront`
   */
  afterFailure?: 'keep' | 'giveUp' | undefined
  /**
   * True if the handler may run again for the same `orderId` after a process
   * died in it. With false, the payment is given up then. @default false
   */
  repeatable?: boolean | undefined
  /**
   * True to stream the answer to the client, and not to store it. Only with
   * `upfront`. In Express the answer is collected and kept. @default false
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
   * Returns the URL of the resource, if a proxy changes that of the request.
   * @default the request's own
   */
  resource?: ((request: Request) => string) | undefined
  /** Most payments of one payer that may be open at once. @default 16 */
  mostOpen?: number | undefined
  /** Longest request body, in bytes. @default 1_048_576 */
  mostRequestBytes?: number | undefined
  /** Longest answer that is kept, in bytes. @default 1_048_576 */
  mostAnswerBytes?: number | undefined
  /**
   * Milliseconds a request waits for a capture, and tries to store the result
   * of the work. @default 30_000
   */
  timeout?: number | undefined
  /** Seconds an answer is kept after the payment expired. @default 86_400n */
  keepFor?: bigint | undefined
  /**
   * Identity of the database that took payments to these recipients before, to
   * move them to this database. The error at the start names it.
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
   * Equal for equal payments: use it to recognize work that is already done.
   */
  orderId: string
  /** Name of the offer. */
  offer: string
  payer: Address
  /** A decimal in whole tokens. */
  amount: string
  /** The capture, with `upfront`. */
  transaction: Hash | undefined
}

/** Does the paid work. */
export type X402Handler = (
  request: Request,
  payment: X402Payment,
) => Response | Promise<Response>

/** The offers for a request, and its handler. */
export type AnswerParameters = {
  /** Name of an offer, or names of several to choose from. */
  offer: string | readonly string[]
  handler: X402Handler
  /**
   * Pass `false` if your server cannot stream. The answer is then kept, even if
   * the offer has `stream`.
   */
  stream?: false | undefined
}

/** Lets only paid requests pass to handlers. */
export type X402Gate = {
  /** Longest answer that is kept, in bytes. */
  readonly mostAnswerBytes: number
  /**
   * Opens the store, proves the tokens, and claims the recipients for this
   * database. If you do not call it, the first request does.
   *
   * @throws {@link X402SetupError} when a recipient is open in another
   * database.
   */
  claimRecipients(): Promise<void>
  /**
   * Answers one request. Faults of the node or the database become answers,
   * too. Throws what a handler throws for its framework to answer, such as
   * `redirect()` and `notFound()` of Next.js: then nothing is sold.
   *
   * @throws {@link InvalidFieldError} when the gate has no such offer.
   */
  answer(request: Request, parameters: AnswerParameters): Promise<Response>
  /**
   * Turns a paid handler into a fetch handler.
   *
   * @throws {@link InvalidFieldError} at a request, when the gate has no such
   * offer.
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

/** An offer with its proven token. */
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
  /** Name of this gate in notes and in its lease. */
  owner: string
  keepAnswer: KeepAnswer
  loadKnown: (wanted: WantedPayment) => Promise<KnownPayment>
  /** Payments that this process is working on, by order id. */
  working: Map<string, Run>
  /** Order ids of the streams that this process is passing on. */
  streams: Set<string>
  /** Ends of work that could not be stored yet, by key of their notes. */
  unstored: Map<string, WorkEnd>
}

/** Work on a payment, and the hash of what the payment is bound to. */
export type Run = {
  bound: Hex
  ended: Promise<Outcome | Refusal>
  /** The requests that wait for the outcome, the first one first. */
  waiting: Request[]
}

/** Builds the answer that refuses the payment; called once for each request. */
export type Refusal = () => Response

/** A response that can be kept and given again. */
export type KeptResponse = {
  status: number
  /** The reason phrase, if it is not the usual one. */
  statusText?: string | undefined
  headers: readonly (readonly [string, string])[]
  /** Base64. */
  body: string
}

/** How a handler ended. */
export type Finished =
  /** With a stream to pass on. */
  | { kind: 'live'; response: Response; transaction: Hash }
  | { kind: 'good'; response: KeptResponse }
  | { kind: 'failed'; response: KeptResponse; signal?: Signal | undefined }

/** What a handler threw for its framework to answer. */
export type Signal = { thrown: unknown }

/** How the work for a payment ended, with the capture if there was one. */
export type WorkEnd = {
  note: ExchangeNote
  finished: Exclude<Finished, { kind: 'live' }> | { kind: 'passedOn' }
  transaction?: Hash | undefined
  /** The order, if this process wrote it last. */
  stored?: StoredOrder | undefined
}

/**
 * How far the exchange of one payment has come. `paying`: captured before the
 * work. `working`: the handler runs, or its stream is passed on. `done`: its
 * answer is kept, or was passed on. `failed`: it may run again. `over`: it failed, and never runs again.
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
  /** The sealed answer. */
  answer?: string | undefined
}

/** The payment of a request. */
export type WantedPayment = {
  orderId: string
  /** Payment nonce. */
  nonce: Hex
  /** Hash of the payload. */
  payload: Hex
  /** Key of the note of the payment identifier. */
  identifier: string | undefined
}

/** What is on record of a payment. */
export type KnownPayment = {
  note: ExchangeNote | undefined
  /** The payment nonce belongs to an order that no gate made. */
  isSpent: boolean
  /** The identifier belongs to another payload. */
  conflict: boolean
}

/** The note of an exchange. */
export type ExchangeNote = Omit<NoteRecord, 'data'> & { data: Exchange }

/** An answer to keep, sealed. */
export type AnswerToKeep = {
  note: ExchangeNote
  answer: string
  orderId: string
  /** True to request the capture in the same unit of work. */
  captures: boolean
  /** The order, if this process wrote it last. */
  stored: StoredOrder | undefined
  /** With `captures`: limits of an answer at `preconfirmed`. */
  early: EarlyLimits | undefined
}

/** The order as it is once the answer is kept. */
export type KeptAnswer = { order: OrderRecord | undefined }

/**
 * Keeps an answer and requests its capture. `undefined` when another process
 * moved the exchange first: then nothing was written.
 */
export type KeepAnswer = (
  answer: AnswerToKeep,
) => Promise<KeptAnswer | undefined>

/** The outcome of an exchange, for all requests that wait for it. */
export type Outcome =
  | {
      kind: 'paid'
      response: KeptResponse | undefined
      /** Begins the stream for a client. Called once. */
      stream?: ((client: AbortSignal) => Response) | undefined
      transaction: Hash
    }
  /** The handler failed. Has its answer, and the capture if there was one. */
  | {
      kind: 'failed'
      response: KeptResponse
      transaction: Hash | undefined
    }
  /** The capture was refused. */
  | { kind: 'refused'; reason: string }
  /**
   * This payment can no longer buy anything. Nothing was captured, or it is to
   * be refunded.
   */
  | { kind: 'gone' }
  /** The handler threw what its framework answers. Nothing was sold. */
  | { kind: 'signal'; signal: Signal }
  /** The capture, or another process, needs more time. */
  | { kind: 'pending'; transaction: Hash | undefined }
