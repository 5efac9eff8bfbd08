import type { Address, Hash } from 'viem'
import { ask } from '../../client/ask.js'
import {
  createMerchantClient,
  openMerchantLine,
} from '../../client/createMerchantClient.js'
import type {
  FollowOrdersParameters,
  MerchantClient,
} from '../../client/MerchantClient.js'
import { queryOf } from '../../client/queryOf.js'
import type { Answers, Wire } from '../../http/schemas/answerTypes.js'
import type { LedgerRow, RefundReason } from '../../orders/index.js'
import type { OrderState } from '../../store/types.js'
import type { WebhookLag } from '../../webhooks/getWebhookLag.js'
import type { ChainAnswer } from './chainAnswer.js'
import { readJsonLines } from './readJsonLines.js'

export type OrderFilter = {
  states?: readonly OrderState[] | undefined
  /** Text that the merchant searches for: what it names is found first. */
  search?: string | undefined
  orderId?: string | undefined
  payer?: string | undefined
  recipient?: string | undefined
  transaction?: string | undefined
  /** Unix seconds: orders that were created at this time or later. */
  from?: number | undefined
  /** Unix seconds: orders that were created before. */
  to?: number | undefined
  /** Smallest and largest amount, in whole tokens. */
  least?: string | undefined
  most?: string | undefined
  /** Only orders with refunds, or with a ceiling. */
  has?: 'refunds' | 'ceiling' | undefined
}

/** File format of the books. */
export type BooksFormat = 'csv' | 'jsonLines' | 'hledger'

type AnswerOf<method extends keyof MerchantClient> = ReturnType<
  MerchantClient[method]
>

/** How far a webhook target is. */
export type TargetLag = Wire<WebhookLag> & {
  name: string
  /** True until a requested replay begins. Only told to who may replay. */
  isReplayRequested?: boolean | undefined
}

export type Webhooks = {
  targets: readonly TargetLag[]
  /** Present if the merchant may replay events. */
  mayReplay?: true | undefined
}

export type MerchantApi = {
  /** Follows the events after a cursor, or only new ones. */
  follow(parameters: FollowParameters): AnswerOf<'follow'>
  list(parameters: ListParameters): Promise<Answers['OrderList']>
  get(orderId: string): AnswerOf<'get'>
  /** `amount` is needed for an order with a ceiling. */
  capture(orderId: string, amount?: string): AnswerOf<'capture'>
  void(orderId: string): AnswerOf<'void'>
  reauthorize(orderId: string): AnswerOf<'reauthorize'>
  cancel(orderId: string): AnswerOf<'approveCancellation'>
  refund(orderId: string, body: RefundRequest): AnswerOf<'refund'>
  reconcile(): AnswerOf<'reconcile'>
  audit(): AnswerOf<'audit'>
  /**
   * Downloads the books from the first order on, with all transfers on the
   * chain.
   */
  ledger(format: BooksFormat): Promise<Blob>
  /** Reads the books on record since a time in Unix seconds. */
  bookings(from: bigint): Promise<AsyncIterable<Wire<LedgerRow>>>
  health(): AnswerOf<'health'>
  /** Gets how far each webhook target is. */
  webhooks(): Promise<Webhooks>
  /** Delivers every event since a time in Unix milliseconds once more. */
  replayWebhooks(target: string, since: number): Promise<{ replayed: true }>
  subscriptions(before?: string): Promise<Answers['SubscriptionList']>
  subscription(subscriptionId: string): Promise<Answers['Subscription']>
  charges(
    subscriptionId: string,
    before?: string,
  ): Promise<Answers['ChargeList']>
  /** Gets the chain's answer about a transaction from the shop's node. */
  receipt(chainId: number, hash: Hash): Promise<ChainAnswer>
}

type ApiParameters = {
  /** Path of the first page, with a slash at its end. */
  root: string
  /** Absent if the browser's session is enough. */
  key?: string | undefined
  /** Called when the key or the session is refused. */
  onRefused?: (() => void) | undefined
}

/** Creates a client of the merchant's routes that repeats no request. */
export function createMerchantApi({
  root,
  key,
  onRefused,
}: ApiParameters): MerchantApi {
  const url = `${location.origin}${root}api`
  const send = async (request: Request): Promise<Response> => {
    const response = await fetch(request)
    if (response.status === 401) onRefused?.()
    return response
  }
  const connection = { url, key, retries: 0, fetch: send }
  const merchant = createMerchantClient(connection)
  const line = openMerchantLine(connection)
  return {
    follow({ onRetry, ...parameters }) {
      const patient = createMerchantClient({ ...connection, onRetry })
      return patient.follow(parameters)
    },
    async list({ states, payer, recipient, transaction, before, limit }) {
      const pages = merchant.list({
        states: states?.length ? states : undefined,
        payer: payer as Address | undefined,
        recipient: recipient as Address | undefined,
        transaction: transaction as Hash | undefined,
        before,
        limit,
      })
      const { value } = await pages.next()
      return value ?? { orders: [] }
    },
    get: (orderId) => merchant.get({ orderId }),
    capture: (orderId, amount) => merchant.capture({ orderId, amount }),
    void: (orderId) => merchant.void({ orderId }),
    reauthorize: (orderId) => merchant.reauthorize({ orderId }),
    cancel: (orderId) => merchant.approveCancellation({ orderId }),
    refund: (orderId, body) => merchant.refund({ orderId, ...body }),
    reconcile: () => merchant.reconcile(),
    audit: () => merchant.audit(),
    ledger: async (format) =>
      new Response(await merchant.ledger({ format, transfers: true })).blob(),
    bookings: async (from) =>
      readJsonLines(await merchant.ledger({ format: 'jsonLines', from })),
    health: () => merchant.health(),
    webhooks: () => ask(line, { path: '/webhooks' }),
    replayWebhooks: (target, since) =>
      ask(line, {
        path: `/merchant/webhooks/replay${queryOf({ target, since })}`,
        body: {},
      }),
    subscriptions: (before) =>
      ask(line, { path: subscriptionsPath + queryOf({ before }) }),
    subscription: (id) => ask(line, { path: subscriptionRoute(id) }),
    charges: (id, before) =>
      ask(line, {
        path: `${subscriptionRoute(id)}/charges${queryOf({ before })}`,
      }),
    receipt: (chainId, hash) =>
      ask<ChainAnswer>(line, { path: `/receipts/${chainId}/${hash}` }),
  }
}

const subscriptionsPath = '/merchant/subscriptions'

const subscriptionRoute = (id: string): string =>
  `${subscriptionsPath}/${encodeURIComponent(id)}`

type RefundRequest = {
  refundId: string
  amount: string
  reason: RefundReason
}

type FollowParameters = FollowOrdersParameters & {
  /** Called when the stream is lost. */
  onRetry: () => void
}

type ListParameters = OrderFilter & {
  before?: string | undefined
  limit?: number | undefined
}
