import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { drawNonce } from '../core/drawNonce.js'
import type { Answers } from '../http/schemas/answerTypes.js'
import { ask } from './ask.js'
import { auditRanges } from './auditRanges.js'
import type { AbortOptions } from './BuyerClient.js'
import { draftOnce } from './draftOnce.js'
import { followStream } from './followStream.js'
import {
  type ConnectionParameters,
  connectionMembers,
  type Line,
  openLine,
  parseHeader,
  parseText,
} from './line.js'
import { loadPages } from './loadPages.js'
import type {
  FollowOrdersParameters,
  ListParameters,
  MerchantClient,
  MerchantEvent,
  OrderParameters,
  RefundParameters,
} from './MerchantClient.js'
import { openLedger } from './openLedger.js'
import { queryOf } from './queryOf.js'

/** Parameters of {@link createMerchantClient}. */
export type CreateMerchantClientParameters = ConnectionParameters & {
  /**
   * Secret that is sent as `Authorization: Bearer …` and that your `authorize`
   * checks. Leave it out in a page whose session cookie is enough.
   */
  key?: string | undefined
}

const members: MembersOf<CreateMerchantClientParameters> = {
  ...connectionMembers,
  key: true,
}

/**
 * Creates a client for a merchant: for backends, scripts and the merchant's own
 * pages. It talks to the routes of `countersign/http`.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { createMerchantClient } from 'countersign/client'
 *
 * const merchant = createMerchantClient({
 *   url: 'https://shop.example/payments',
 *   key: 'the key that authorize checks',
 * })
 * const { order, buyerToken } = await merchant.draft({ amount: '12.50' })
 * console.log(`/checkout#${order.id}.${buyerToken}`)
 * ```
 */
export function createMerchantClient(
  parameters: CreateMerchantClientParameters,
): MerchantClient {
  const line = openMerchantLine(parameters)
  const get = <answer>(path: string, { signal }: AbortOptions = {}) =>
    ask<answer>(line, { path, signal })
  const post = <answer>(
    path: string,
    { signal }: AbortOptions,
    body: object = {},
  ) => ask<answer>(line, { path, body, signal })
  // Without a retry, for what would undo a call that came in between.
  const postOnce = <answer>(
    path: string,
    { signal }: AbortOptions,
    body: object = {},
  ) => ask<answer>(line, { path, body, signal }, () => undefined)

  return {
    draft: ({ idempotencyKey = drawNonce().slice(2), signal, ...body }) => {
      const id = parseHeader(idempotencyKey, 'idempotencyKey')
      const headers = { 'idempotency-key': id }
      const path = '/merchant/orders'
      return draftOnce(line, { path, headers, body, signal })
    },
    list: (given) => listPages(line, given),
    get: (given) => get(orderPath(given), given),
    capture: ({ amount, answerAt, preconfirmedUpTo, wait, ...given }) =>
      ask(line, {
        path: `${orderPath(given)}/capture`,
        body: { amount, answerAt, preconfirmedUpTo },
        headers: wait === undefined ? {} : { prefer: `wait=${wait}` },
        signal: given.signal,
      }),
    void: (given) => post(`${orderPath(given)}/void`, given),
    reauthorize: ({ window, ...given }) =>
      postOnce(`${orderPath(given)}/reauthorize`, given, { window }),
    approveCancellation: (given) =>
      post(`${orderPath(given)}/cancellation/approve`, given),
    refund: ({ orderId, signal, ...body }) =>
      post(`${orderPath({ orderId })}/refunds`, { signal }, body),
    listRefunds: (given) => get(`${orderPath(given)}/refunds`, given),
    getRefund: (given) => get(refundPath(given), given),
    refundToSign: ({ window, ...given }) =>
      get(`${refundPath(given)}/payment${queryOf({ window })}`, given),
    acceptRefund: ({ signature, ...given }) =>
      post(`${refundPath(given)}/payment`, given, { signature }),
    reconcile: ({ fromBlock, ...given } = {}) =>
      post('/merchant/reconcile', given, { fromBlock }),
    audit: (given) => auditRanges(line, given),
    ledger: (given) => openLedger(line, given),
    health: (given) => get('/merchant/health', given),
    follow: (given) => followOrders(line, given),
    suspend: (given = {}) => post('/merchant/suspend', given),
    resume: (given = {}) => postOnce('/merchant/resume', given),
    reseal: (given = {}) => post('/merchant/reseal', given),
    openApi: (given) => get('/openapi.json', given),
  }
}

/** @throws {@link InvalidFieldError} when a parameter is malformed. */
export function openMerchantLine(
  parameters: CreateMerchantClientParameters,
): Line {
  checkMembers(parameters, members)
  const { key, ...connection } = parameters
  return openLine(
    connection,
    key === undefined ? undefined : parseHeader(key, 'key'),
  )
}

function orderPath({ orderId }: Pick<OrderParameters, 'orderId'>): string {
  const id = parseText(orderId, 'orderId')
  return `/merchant/orders/${encodeURIComponent(id)}`
}

function refundPath({ refundId, ...given }: RefundParameters): string {
  const id = parseText(refundId, 'refundId')
  return `${orderPath(given)}/refunds/${encodeURIComponent(id)}`
}

function listPages(
  line: Line,
  { states, before, signal, ...filter }: ListParameters = {},
): AsyncGenerator<Answers['OrderList'], void> {
  const state = states?.join()
  return loadPages(line, { before, signal }, (cursor) => {
    const query = queryOf({ ...filter, state, before: cursor })
    return `/merchant/orders${query}`
  })
}

async function* followOrders(
  line: Line,
  { orderId, onOpen, ...following }: FollowOrdersParameters = {},
): AsyncGenerator<MerchantEvent, void> {
  const path = `/merchant/events${queryOf({ orderId })}`
  const messages = followStream<MerchantEvent>(line, path, following)
  for await (const { event, data } of messages) {
    if (event === 'status') onOpen?.(String(data.cursor))
    else yield data
  }
}
