import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import type { Address, Hash, Hex } from 'viem'
import type { Token } from '../../chain/state/getToken.js'
import type { Channels } from '../../channels/engine.js'
import type {
  EarlyLimits,
  Instance,
  OrdersContext,
  StoredOrder,
} from '../../orders/engine.js'
import type { DestinationOrders } from '../../orders/index.js'
import type { NoteRecord, OrderRecord } from '../../store/types.js'
import type { PaymentFlow } from '../wire/requirements.js'
import type { ChannelDesk } from './channelDesk.js'
import type { X402ChannelOffer, X402Offer } from './offers.js'

/**
 * Answers browsers with a page on which people pay. `createPaywall` of
 * `countersign/pages` makes one.
 */
export type X402Paywall = (
  request: Request,
  gate: {
    orders: DestinationOrders
    /** Returns the resource that a payment for a request is bound to. */
    resource: (request: Request) => string
    /** Seconds after a payment's expiry for which its answer stays stored. */
    keepFor: bigint
    /** Answers the request as the gate does without a paywall. */
    sell: (request: Request) => Promise<Response>
    /**
     * Returns the error of an answer that the gate itself gave. Returns
     * `undefined` for the answer of your handler, whatever it contains.
     */
    errorOf: (answer: Response) => string | undefined
  },
) => Promise<Response>

/** Parameters of {@link createX402Gate}. */
export type X402GateParameters = {
  /** Orders from `createOrders`, or from its `within`. */
  orders: DestinationOrders
  /**
   * Channels from `createChannels` of `countersign/channels`, for the same
   * orders. Offers with the flow `channel` need them.
   */
  channels?: Channels | undefined
  /** The offers, each by a name that you choose. */
  offers: Readonly<Record<string, X402Offer | X402ChannelOffer>>
  /**
   * Returns the URL that clients see, if a proxy changes the URL of the
   * request. @default the URL of the request
   */
  resource?: ((request: Request) => string) | undefined
  /** Most payments of one payer that may be open at once. @default 16 */
  mostOpen?: number | undefined
  /** Longest request body, in bytes. @default 1_048_576 */
  mostRequestBytes?: number | undefined
  /**
   * Longest answer that can be sold and stored, in bytes. @default 1_048_576
   */
  mostAnswerBytes?: number | undefined
  /**
   * Milliseconds that a request waits for its capture. For the same time,
   * failed writes of the answer are tried again. @default 30_000
   */
  timeout?: number | undefined
  /**
   * Seconds after the payment's expiry for which its answer stays stored.
   * @default 86_400n
   */
  keepFor?: bigint | undefined
  /**
   * Moves the recipients from another database to this one. Pass the identity
   * of the other database, which the {@link X402SetupError} names. Do so only
   * when no gate uses the other database any more: both would sell for the same
   * payment.
   */
  takeOverFrom?: string | undefined
  /**
   * The page that browsers get with a 402 answer, from `createPaywall` of
   * `countersign/pages`. @default false
   */
  paywall?: X402Paywall | false | undefined
}

/** The payment for which a handler runs. */
export type X402Payment = {
  /**
   * Id of the order, the same whenever this payment is sent. Use it to
   * recognize work that your handler has already done.
   */
  orderId: string
  /** Name of the offer that was paid for. */
  offer: string
  payer: Address
  /**
   * Amount paid, a decimal in whole tokens. With the flow `channel`, the most
   * that can be charged.
   */
  amount: string
  /**
   * Hash of the transaction that captured the payment. `undefined` unless the
   * flow is `upfront`, because other payments are captured later.
   */
  transaction: Hash | undefined
  /** Id of the channel that pays. Absent unless the flow is `channel`. */
  channelId?: Hex | undefined
  /**
   * Sets what the request has cost so far in all, a decimal in whole tokens from
   * `'0'` to `amount`. Until the answer begins, the last call counts; without
   * one, the whole `amount` is charged. Absent unless the flow is `channel`.
   *
   * A stream can call it again, with higher totals. The promise resolves once
   * the total is on record: await it before you send what it pays for. A stream
   * begins when the handler returns if it has called this by then, else at its
   * first part.
   *
   * @throws {@link InvalidFieldError} when the amount is malformed or above
   * `amount`, when it is lower than what a stream has cost so far, or when the
   * answer is no stream and the handler has returned.
   * @throws {@link ChargeRejectedError} when the stream has ended, its client
   * has left or `maxTimeoutSeconds` are over, and when the channel was stopped
   * or served by another process.
   */
  charge?: ((amount: string) => Promise<void>) | undefined
}

/** A fetch handler that also gets the payment. It answers a paid request. */
export type X402Handler = (
  request: Request,
  payment: X402Payment,
) => Response | Promise<Response>

/** The offers that pay for a request, and the handler that answers it. */
export type AnswerParameters = {
  /** Name of an offer, or names of several to choose from. */
  offer: string | readonly string[]
  handler: X402Handler
  /**
   * Pass `false` if your server cannot stream. The answer is then stored, even
   * if the offer has `stream`.
   */
  stream?: false | undefined
}

/** Lets only paid requests pass to handlers. */
export type X402Gate = {
  /** Longest answer that can be sold and stored, in bytes. */
  readonly mostAnswerBytes: number
  /**
   * Opens the store, checks the tokens on chain, and records that this database
   * takes the x402 payments to these recipients. The first request does this if
   * you have not called it before.
   *
   * @throws {@link X402SetupError} when a recipient is open in another
   * database.
   */
  claimRecipients(): Promise<void>
  /**
   * Answers one request. If the node or the database fails, answers with an
   * error status. If the handler throws a value that is meant for its
   * framework, such as from `redirect()` or `notFound()` of Next.js, throws
   * that value and sells nothing.
   *
   * @throws {@link InvalidFieldError} when the gate has no offer of this name.
   */
  answer(request: Request, parameters: AnswerParameters): Promise<Response>
  /**
   * Turns a handler into one that answers only paid requests.
   *
   * @throws {@link InvalidFieldError} at a request, when the gate has no offer
   * of this name.
   */
  protect(
    offer: string | readonly string[],
    handler: X402Handler,
  ): (request: Request) => Promise<Response>
}

/**
 * An offer with its defaults filled in, and with its chain, token and
 * recipient.
 */
export type SettledOffer = {
  name: string
  amount: string
  chainId: number
  token: Address
  client: OrdersContext['tokens'][number]['client']
  recipient: Address
  flow: PaymentFlow
  /**
   * Limits for answers to pre-confirmed payments. Absent if the offer waits for
   * a block.
   */
  early: EarlyLimits | undefined
  maxTimeoutSeconds: number
  description: string | undefined
  mimeType: string | undefined
  identifier: 'optional' | 'required'
  afterFailure: 'keep' | 'giveUp'
  repeatable: boolean
  stream: boolean
  /** What only offers with the flow `channel` have. */
  channel: SettledChannel | undefined
}

/** The members of an offer with the flow `channel`. */
export type SettledChannel = {
  /** The deposit that clients are asked for, a decimal in whole tokens. */
  deposit: string
  /** Least deposit, a decimal in whole tokens. Absent for the default. */
  leastDeposit: string | undefined
  withdrawDelay: number
  /** Most that one channel may owe, a decimal in whole tokens. */
  mostUnclaimed: string | undefined
  loadFlow: () => Promise<ChannelFlow>
}

/** An offer with its token, which was checked against the chain. */
export type Terms = {
  offer: SettledOffer
  token: Token
  value: bigint
  /** What only offers with the flow `channel` have. */
  channel: OfferedChannel | undefined
  requirements: PaymentRequirements
}

/** The terms of an offer with the flow `channel`, as its clients see them. */
export type OfferedChannel = {
  flow: ChannelFlow
  receiverAuthorizer: Address
  withdrawDelay: number
  /** The deposit that clients are asked for, in token units. */
  minDeposit: bigint
  /** Least deposit that is taken, in token units. */
  leastDeposit: bigint
  /** Most that one channel may owe, in token units. */
  mostUnclaimed: bigint | undefined
}

/**
 * The terms on which a request can be paid, and the URL of the requested
 * resource.
 */
export type Asked = {
  terms: readonly [Terms, ...Terms[]]
  /** Returns the terms that can be paid now. */
  getOpen: () => readonly Terms[]
  resource: string
}

/** A request that is to be paid through a channel. */
export type ChannelRequest = Pick<AnswerParameters, 'handler' | 'stream'> & {
  request: Request
  asked: Asked
  /** The decoded payload. Its inner members are not checked yet. */
  payload: PaymentPayload
}

/** What a gate needs to sell over channels. */
export type ChannelFlow = {
  desk: ChannelDesk
  /** Answers a request that is to be paid through a channel. */
  answer(gate: GateContext, call: ChannelRequest): Promise<Response>
}

export type LoadChannelFlow = (channels: Channels) => Promise<ChannelFlow>

/** State that all requests of a gate share. */
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
  paywall: X402Paywall | false
  /** Vouchers that this process is serving now, by what they are bound to. */
  serving: Map<string, { ended: Promise<unknown>; waiting: Request[] }>
  /**
   * Random name of this gate. It marks the gate's records and its lease in the
   * store.
   */
  owner: string
  keepAnswer: KeepAnswer
  loadKnown: (wanted: WantedPayment) => Promise<KnownPayment>
  /** Payments that this process is handling now, by order id. */
  working: Map<string, Run>
  /** Order ids of the streamed answers that this process is sending now. */
  streams: Set<string>
  /**
   * Results of handlers that could not be stored yet, by the key of their
   * record.
   */
  unstored: Map<string, WorkEnd>
  /**
   * Keys of records that this gate has claimed for its handler without knowing
   * whether the database committed. The handler did not start.
   */
  unsure: Set<string>
}

/** A payment that is being handled, and the hash of what it is bound to. */
export type Run = {
  bound: Hex
  ended: Promise<Outcome | Refusal>
  /** The requests that wait for the outcome, in order of arrival. */
  waiting: Request[]
}

/**
 * Builds the answer that refuses a payment. Called for each waiting request,
 * because a response can be read only once.
 */
export type Refusal = () => Response

/** A response in the form in which answers are stored. */
export type KeptResponse = {
  status: number
  /** The reason phrase of the status, if it is not the usual one. */
  statusText?: string | undefined
  headers: readonly (readonly [string, string])[]
  /** The body as base64. */
  body: string
  /** The error, if the gate itself gave this answer and not the handler. */
  error?: string | undefined
}

/** Result of a handler, with its answer. */
export type Finished =
  /**
   * The handler succeeded, and its answer is sent to the client as it comes.
   */
  | { kind: 'live'; response: Response }
  | { kind: 'good'; response: KeptResponse }
  | { kind: 'failed'; response: KeptResponse; signal?: Signal | undefined }

/**
 * A value that a handler threw to make its framework answer, such as a
 * redirect.
 */
export type Signal = { thrown: unknown }

/**
 * How the handler for a payment ended. Includes the capture if it came before
 * the handler.
 */
export type WorkEnd = {
  note: ExchangeNote
  finished: Exclude<Finished, { kind: 'live' }> | { kind: 'passedOn' }
  transaction?: Hash | undefined
  /** True if the handler began when that capture was only pre-confirmed. */
  isEarly?: boolean | undefined
  /** The order, if this process has just stored it, which saves loading it. */
  stored?: StoredOrder | undefined
}

/**
 * How far the processing of one payment has come. `paying`: the payment must be
 * captured before the handler runs. `working`: the handler runs, or its stream
 * is being sent. `done`: the answer is stored, or its stream has ended.
 * `failed`: the handler failed and may run again. `over`: this payment buys
 * nothing any more.
 */
type Step = 'paying' | 'working' | 'done' | 'failed' | 'over'

/** The stored record of how far the processing of a payment has come. */
export type Exchange = {
  /** Hash of everything that the payment is bound to. */
  bound: Hex
  offer: string
  step: Step
  /** Name of the gate that is handling the payment. */
  owner: string
  /** The encrypted answer. */
  answer?: string | undefined
}

/** The payment of a request, to look up in the store. */
export type WantedPayment = {
  orderId: string
  /** EIP-3009 nonce of the payment. */
  nonce: Hex
  /** Hash of the payment payload. */
  payload: Hex
  /**
   * Key of the stored record that says which payment uses this payment
   * identifier. Absent if the client sent none.
   */
  identifier: string | undefined
}

/** What the store knows about a payment. */
export type KnownPayment = {
  note: ExchangeNote | undefined
  /** True if the payment nonce belongs to an order that no gate created. */
  isSpent: boolean
  /** True if the payment identifier belongs to another payment. */
  conflict: boolean
}

/** A record (a note of the store) whose data is an {@link Exchange}. */
export type ExchangeNote = Omit<NoteRecord, 'data'> & { data: Exchange }

/** An encrypted answer to store. */
export type AnswerToKeep = {
  note: ExchangeNote
  answer: string
  orderId: string
  /** True to request the capture in the same database transaction. */
  captures: boolean
  /** The order, if this process has just stored it, which saves loading it. */
  stored: StoredOrder | undefined
  /**
   * Limits for an answer before a block has the capture. Used only if
   * `captures`.
   */
  early: EarlyLimits | undefined
  /**
   * True if the handler began when the capture was only pre-confirmed: the
   * answer is recorded as given early.
   */
  isEarly: boolean
}

/**
 * The order after its answer was stored. Absent if no capture was requested
 * together with the answer.
 */
export type KeptAnswer = { order: OrderRecord | undefined }

/**
 * Stores an answer and, if asked to, requests the capture. If another process
 * has changed the record first, writes nothing and returns `undefined`.
 */
export type KeepAnswer = (
  answer: AnswerToKeep,
) => Promise<KeptAnswer | undefined>

/**
 * Result of a payment for all requests that carry it: they wait for one run and
 * share this result.
 */
export type Outcome =
  | {
      kind: 'paid'
      response: KeptResponse | undefined
      /** Starts to send the streamed answer to a client. May be called once. */
      stream?: ((client: AbortSignal) => Response) | undefined
      transaction: Hash
      /** True while the capture is only pre-confirmed. */
      isEarly?: boolean | undefined
    }
  /**
   * The handler failed. Includes its answer, and the capture if there was one.
   */
  | {
      kind: 'failed'
      response: KeptResponse
      transaction: Hash | undefined
    }
  /** The payment could not be captured. */
  | { kind: 'refused'; reason: string }
  /**
   * This payment buys nothing any more. It was not captured, or must be
   * refunded.
   */
  | { kind: 'gone' }
  /**
   * The handler threw a value that makes its framework answer. Nothing was
   * sold.
   */
  | { kind: 'signal'; signal: Signal }
  /**
   * The request has waited long enough, but the capture or another process is
   * not done.
   */
  | { kind: 'pending'; transaction: Hash | undefined }
