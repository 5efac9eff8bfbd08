import type { Address } from 'viem'
import type {
  AnyPayment,
  AnySignedPayment,
  Cancellation,
  SignedCancellation,
} from '../core/types.js'
import type { Answers } from '../http/schemas/answerTypes.js'
import type { SigningKind } from '../payments/message/kind.js'
import type { SignCancellationExpectation } from '../payments/sign/signCancellation.js'
import type {
  SignCeilingExpectation,
  SignPaymentExpectation,
} from '../payments/sign/signPayment.js'
import type { Wallet } from '../payments/sign/signWithWallet.js'
import type { FollowParameters } from './followStream.js'

/** Parameters that every method of a client accepts. */
export type AbortOptions = {
  /**
   * Ends the request, or the wait for the wallet. The call then rejects with the
   * signal's reason.
   */
  signal?: AbortSignal | undefined
}

/** How a client signs and decodes payments of one kind. */
export type ClientKind = SigningKind & {
  /** Decodes a payment from JSON, as `decodePayment` does. */
  decode(json: unknown): AnyPayment
}

/** Parameters of all methods for payments. */
export type PaymentOptions = AbortOptions & {
  /** Pass `checkout` for an order with a ceiling. @default EIP-3009 */
  kind?: ClientKind | undefined
}

/** Parameters of `requestPayment`. */
type RequestPaymentParameters = PaymentOptions & {
  /** Account that will sign. Used only if the order names no payer. */
  payer: Address
}

/** Parameters of `pay`. */
type PayOrderParameters = PaymentOptions & {
  /**
   * What the buyer agreed to. Take these values from the page, never from the
   * server that drafted the payment.
   */
  expect: SignPaymentExpectation | SignCeilingExpectation
  /**
   * Account that pays.
   * @default the account of the wallet, which may ask its user to connect
   */
  payer?: Address | undefined
}

/** Parameters of the buyer's `cancel`. */
type CancelOptions = AbortOptions & {
  /**
   * What the buyer agreed to cancel. Take these values from the page, never
   * from the server.
   */
  expect: SignCancellationExpectation
}

/** Parameters of the buyer's `follow`. */
export type FollowOrderParameters = FollowParameters & {
  /**
   * States that also end the iteration, such as `['voided', 'expired']`. The
   * server keeps the stream open in these states, because such an order can
   * still be paid or offered to the buyer again.
   */
  until?: readonly BuyerState['state'][] | undefined
}

/** The order as its buyer sees it. Integers are decimal strings. */
export type BuyerState = Answers['BuyerOrder']

/** An event of the order, with its id. Integers are decimal strings. */
export type BuyerNews = Answers['BuyerEvent'] & {
  /** Id of the event. Pass it as `after` to continue after this event. */
  id: string
}

/**
 * Whether the shop sends the cancellation to the chain. If it does not, `call`
 * is the transaction that the buyer can send.
 */
type CancellationTaken = Answers['CancellationTaken']

/**
 * The calls for the buyer of one order. Repeating a request has no further
 * effect, so each is retried after transient failures.
 */
export interface BuyerClient {
  /**
   * Reads the order. Retried after transient failures.
   *
   * @throws {@link ProblemError} when the server refuses it.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { BuyerClient } from 'countersign/client'
   *
   * export async function isPaid(buyer: BuyerClient) {
   *   const { state, transaction } = await buyer.get()
   *   return state === 'captured' && transaction?.finality === 'safe'
   * }
   * ```
   */
  get(parameters?: AbortOptions): Promise<BuyerState>

  /**
   * Has the wallet sign the order's payment, and hands it to the shop. Requests
   * are retried after transient failures; the wallet is asked once. Nothing is
   * paid twice: an order takes one payment.
   *
   * When the call resolves, no money has moved. The shop captures later.
   *
   * @throws {@link ProblemError} when the server refuses the payment: `notOpen`
   * if the order has one already, or its time is over.
   * @throws {@link UnexpectedPaymentError} when the payment is not the expected
   * one; the wallet was not asked.
   * @throws {@link WrongWalletError} {@link SigningDeclinedError}
   * {@link WalletError} {@link InvalidFieldError} {@link InvalidAmountError} as
   * `signPayment` does.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { Wallet } from 'countersign'
   * import type { BuyerClient } from 'countersign/client'
   *
   * export const pay = (buyer: BuyerClient, wallet: Wallet) =>
   *   buyer.pay(wallet, {
   *     expect: {
   *       chainId: 8453,
   *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
   *       to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
   *       amount: '12.50',
   *     },
   *   })
   * ```
   */
  pay(wallet: Wallet, parameters: PayOrderParameters): Promise<BuyerState>

  /**
   * Gets the payment to sign. For a page that does the steps of `pay` one by
   * one: this one, `signPayment` and `sendPayment`. Also gets a signed permit,
   * for `signPermitCancellation`. Retried after transient failures.
   *
   * @throws {@link ProblemError} when the server refuses it: `notOpen` if there
   * is none to sign.
   * @throws {@link InvalidFieldError} when the answer is no payment of the
   * kind.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { BuyerClient } from 'countersign/client'
   *
   * export async function deadline(buyer: BuyerClient, payer: `0x${string}`) {
   *   const { message } = await buyer.requestPayment({ payer })
   *   return message.validBefore
   * }
   * ```
   */
  requestPayment(parameters: RequestPaymentParameters): Promise<AnyPayment>

  /**
   * Hands a signed payment to the shop. Sending the same payment again returns
   * the order as it is now. Retried after transient failures.
   *
   * @throws {@link ProblemError} when the server refuses the payment.
   * @throws {@link InvalidFieldError} when the payment is malformed.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { SignedPayment } from 'countersign'
   * import type { BuyerClient } from 'countersign/client'
   *
   * export const send = (buyer: BuyerClient, payment: SignedPayment) =>
   *   buyer.sendPayment(payment)
   * ```
   */
  sendPayment(
    payment: AnySignedPayment,
    parameters?: PaymentOptions,
  ): Promise<BuyerState>

  /**
   * Yields the order's `status` and then each event. The server ends the stream
   * once the order is captured, canceled or consumed, and nothing but a refund
   * can follow. If the connection breaks, opens it again and continues after
   * the last event; each connection begins with a `status`.
   *
   * An event can come twice.
   *
   * @throws {@link ProblemError} when the server refuses it: `orderNotFound`
   * for a wrong token.
   * @throws {@link ServerError} when the answer is not from `countersign/http`,
   * for example an event without JSON or of more than a million characters.
   * @throws {@link InvalidFieldError} when no header can contain `after`.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { BuyerClient } from 'countersign/client'
   *
   * export async function show(buyer: BuyerClient, say: (text: string) => void) {
   *   const ends = ['voided', 'expired'] as const
   *   for await (const { order } of buyer.follow({ until: ends }))
   *     say(order.transaction?.finality ?? order.state)
   * }
   * ```
   */
  follow(parameters?: FollowOrderParameters): AsyncGenerator<BuyerNews, void>

  /**
   * Gets the cancellation to sign. Retried after transient failures.
   *
   * @throws {@link ProblemError} when the server refuses it: `notOpen` if there
   * is nothing to cancel.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { BuyerClient } from 'countersign/client'
   *
   * export async function nonceOf(buyer: BuyerClient) {
   *   const { message } = await buyer.cancellationToSign()
   *   return message.nonce
   * }
   * ```
   */
  cancellationToSign(parameters?: AbortOptions): Promise<Cancellation>

  /**
   * Hands a signed cancellation to the shop. Retried after transient failures.
   *
   * @throws {@link ProblemError} when the server refuses it.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { SignedCancellation } from 'countersign'
   * import type { BuyerClient } from 'countersign/client'
   *
   * export const send = (buyer: BuyerClient, cancellation: SignedCancellation) =>
   *   buyer.sendCancellation(cancellation)
   * ```
   */
  sendCancellation(
    cancellation: SignedCancellation,
    parameters?: AbortOptions,
  ): Promise<CancellationTaken>

  /**
   * Has the wallet sign the cancellation, and hands it to the shop. Requests
   * are retried after transient failures; the wallet is asked once.
   *
   * If the shop does not send the cancellation, the answer has a `call` that
   * the buyer can send. The client never sends it. Until the cancellation is in
   * a block, or the window is over, the signed payment can still be captured.
   *
   * @throws {@link ProblemError} when the server refuses it.
   * @throws {@link UnexpectedPaymentError} when the cancellation is not the
   * expected one; the wallet was not asked.
   * @throws {@link WrongWalletError} {@link SigningDeclinedError}
   * {@link WalletError} {@link InvalidFieldError} as `signCancellation` does.
   * @throws {@link ServerError} when the server gives no answer.
   * @throws the reason of `signal` when that aborts.
   *
   * @example
   * ```ts
   * import type { Wallet } from 'countersign'
   * import type { BuyerClient } from 'countersign/client'
   *
   * export async function cancel(buyer: BuyerClient, wallet: Wallet) {
   *   const { call } = await buyer.cancel(wallet, {
   *     expect: {
   *       chainId: 8453,
   *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
   *     },
   *   })
   *   return call ? 'Send this transaction to be sure.' : 'Canceled.'
   * }
   * ```
   */
  cancel(wallet: Wallet, parameters: CancelOptions): Promise<CancellationTaken>
}
