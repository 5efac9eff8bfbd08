import type { OrderState } from '../../store/types.js'
import type {
  AuditQuery,
  ListQuery,
  QuerySchemas,
} from '../schemas/querySchemas.js'
import { answer } from './answer.js'
import { lastEventId } from './buyerRoutes.js'
import { captureForMerchant } from './captureForMerchant.js'
import { createForMerchant } from './createForMerchant.js'
import { followForMerchant } from './followForMerchant.js'
import { integer } from './integer.js'
import { ledgerForMerchant } from './ledgerForMerchant.js'
import { operatorRoutes } from './operatorRoutes.js'
import { refundRoutes } from './refundRoutes.js'
import { merchantRoute, type Route } from './route.js'
import { showHealth } from './showHealth.js'
import { notOpen, refusal } from './toProblem.js'

/**
 * The routes for merchants. Each shows only orders of the recipients that
 * `authorize` returned for the merchant.
 */
export function merchantRoutes(queries: QuerySchemas): readonly Route[] {
  return [
    ...readingRoutes(queries),
    ...changingRoutes(),
    ...refundRoutes(queries),
    ...watchingRoutes(queries),
    ...operatorRoutes(),
  ]
}

function readingRoutes({ list }: QuerySchemas): readonly Route[] {
  return [
    merchantRoute({
      name: 'draftOrder',
      method: 'POST',
      path: '/merchant/orders',
      summary: 'Drafts an order; the same Idempotency-Key is the same order',
      body: 'OrderDraft',
      headers: {
        'Idempotency-Key': 'The id of the order. Drawn at random if absent.',
      },
      answers: { 201: 'DraftedOrder' },
      run: createForMerchant,
    }),
    merchantRoute({
      name: 'listOrders',
      method: 'GET',
      path: '/merchant/orders',
      summary: 'Lists orders, the newest first',
      query: list,
      answers: { 200: 'OrderList' },
      run: async ({ orders, query }) =>
        answer(200, await orders.list(filterOf(query))),
    }),
    merchantRoute({
      name: 'getMerchantOrder',
      method: 'GET',
      path: '/merchant/orders/{orderId}',
      summary: 'Reads an order',
      answers: { 200: 'Order' },
      run: async ({ orders, orderId }) =>
        answer(200, await orders.get({ orderId })),
    }),
  ]
}

function changingRoutes(): readonly Route[] {
  return [
    merchantRoute({
      name: 'captureOrder',
      method: 'POST',
      path: '/merchant/orders/{orderId}/capture',
      summary:
        'Captures an order, once; an order with a ceiling needs an amount',
      body: 'CaptureRequest',
      headers: { Prefer: '`wait=N`: seconds to wait for a result.' },
      answers: { 200: 'Captured', 202: 'CaptureUnknown' },
      run: captureForMerchant,
    }),
    merchantRoute({
      name: 'voidOrder',
      method: 'POST',
      path: '/merchant/orders/{orderId}/void',
      summary: 'Voids an order, so that its payment is not captured',
      body: 'Nothing',
      answers: { 200: 'Voided' },
      run: async ({ orders, orderId }) => {
        const verdict = await orders.void({ orderId })
        if (!verdict.ok)
          return refusal(verdict.reason, 'state', verdict.order.state)
        const { order, spendableUntil } = verdict
        return answer(200, { order, spendableUntil })
      },
    }),
    merchantRoute({
      name: 'reauthorizeOrder',
      method: 'POST',
      path: '/merchant/orders/{orderId}/reauthorize',
      summary: 'Asks the buyer to sign again, with a new time window',
      body: 'Reauthorization',
      answers: { 200: 'Reauthorized' },
      run: async ({ orders, orderId, body }) => {
        const window = integer(body?.window)
        const verdict = await orders.reauthorize({ orderId, window })
        if (!verdict.ok) return notOpen(verdict.order.state, 'state')
        const { order, payment } = verdict
        return answer(200, { order, payment })
      },
    }),
    merchantRoute({
      name: 'approveCancellation',
      method: 'POST',
      path: '/merchant/orders/{orderId}/cancellation/approve',
      summary: 'Sends the cancellation that the buyer signed',
      body: 'Nothing',
      answers: { 200: 'CancellationApproved' },
      run: async ({ orders, orderId }) => {
        const { ok, ...verdict } = await orders.approveCancellation({
          orderId,
        })
        return 'reason' in verdict
          ? refusal(verdict.reason, 'state', verdict.order.state)
          : answer(200, verdict)
      },
    }),
  ]
}

function watchingRoutes({
  audit,
  ledger,
  events,
}: QuerySchemas): readonly Route[] {
  return [
    merchantRoute({
      name: 'reconcile',
      method: 'POST',
      path: '/merchant/reconcile',
      summary:
        'Compares the database with the chain, and adds missing payments',
      body: 'ReconciliationStart',
      answers: { 200: 'ReconciliationReport' },
      run: async ({ orders, body, signal, alone }) => {
        const fromBlock = integer(body?.fromBlock)
        const work = () => orders.reconcile({ fromBlock, signal })
        return answer(200, await alone(work))
      },
    }),
    merchantRoute({
      name: 'audit',
      method: 'GET',
      path: '/merchant/audit',
      summary: 'Compares the database with the chain, and changes nothing',
      query: audit,
      isExpensive: true,
      answers: { 200: 'AuditReport' },
      run: async ({ orders, query, signal, alone }) => {
        const work = () => orders.audit({ ...rangeOf(query), signal })
        return answer(200, await alone(work))
      },
    }),
    merchantRoute({
      name: 'getLedger',
      method: 'GET',
      path: '/merchant/ledger',
      summary: 'Downloads the books of a range of time',
      query: ledger,
      isExpensive: true,
      answers: { 200: 'ledgerFile' },
      run: ledgerForMerchant,
    }),
    merchantRoute({
      name: 'getHealth',
      method: 'GET',
      path: '/merchant/health',
      summary: 'Reports the state of orders, accounts and chains',
      isExpensive: true,
      answers: { 200: 'Health' },
      run: async ({ orders }) => answer(200, showHealth(await orders.health())),
    }),
    merchantRoute({
      name: 'followOrders',
      method: 'GET',
      path: '/merchant/events',
      summary: 'Follows all orders, or one, from the present on',
      query: events,
      headers: lastEventId,
      answers: { 200: 'OrderEventStream' },
      run: followForMerchant,
    }),
  ]
}

function filterOf({ state, chainId, before, limit, ...addresses }: ListQuery) {
  return {
    ...addresses,
    // A cast is safe here: the schema of the query allows only names of states.
    states: state?.split(',') as OrderState[] | undefined,
    chainId: chainId === undefined ? undefined : Number(chainId),
    before: integer(before),
    limit: limit === undefined ? undefined : Number(limit),
  }
}

function rangeOf({ fromBlock, toBlock }: AuditQuery) {
  return { fromBlock: integer(fromBlock), toBlock: integer(toBlock) }
}
