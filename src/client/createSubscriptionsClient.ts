import { drawNonce } from '../core/drawNonce.js'
import type { Answers } from '../http/schemas/answerTypes.js'
import { decodePermission } from '../subscriptions/permission/permissionJson.js'
import { ask } from './ask.js'
import {
  type CreateMerchantClientParameters,
  openMerchantLine,
} from './createMerchantClient.js'
import { parseHeader, parseText } from './line.js'
import { loadPages } from './loadPages.js'
import { queryOf } from './queryOf.js'
import type {
  SubscriptionParameters,
  SubscriptionsClient,
} from './SubscriptionsClient.js'

/**
 * Creates a client for the subscriptions of a merchant. It talks to the routes
 * that `createPaymentHandler` serves when it gets `subscriptions`.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { createSubscriptionsClient } from 'countersign/client'
 *
 * const subscriptions = createSubscriptionsClient({
 *   url: 'https://shop.example/payments',
 *   key: 'the key that authorize checks',
 * })
 * const { subscription, permission } = await subscriptions.draft({
 *   account: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *   amount: '9.99',
 *   period: 30n * 86_400n,
 * })
 * console.log(subscription.id, permission.message.allowance)
 * ```
 */
export function createSubscriptionsClient(
  parameters: CreateMerchantClientParameters,
): SubscriptionsClient {
  const line = openMerchantLine(parameters)
  const all = '/merchant/subscriptions'
  const pathOf = ({ subscriptionId }: SubscriptionParameters) =>
    `${all}/${encodeURIComponent(parseText(subscriptionId, 'subscriptionId'))}`

  return {
    draft: ({ idempotencyKey, signal, period, start, end, ...fields }) => {
      // Uses 62 hex digits, because the id of a subscription has at most 63
      // characters.
      const id = parseHeader(
        idempotencyKey ?? drawNonce().slice(2, 64),
        'idempotencyKey',
      )
      return ask(line, {
        path: all,
        headers: { 'idempotency-key': id },
        body: { ...fields, period, start, end },
        signal,
      })
    },
    requestPermission: async (given) => {
      const asking = { path: pathOf(given), signal: given.signal }
      const found = await ask<Answers['Subscription']>(line, asking)
      return decodePermission({ ...found.permission })
    },
    accept: ({ signature, ...given }) =>
      ask(line, {
        path: `${pathOf(given)}/signature`,
        body: { signature },
        signal: given.signal,
      }),
    issueBuyerToken: (given) =>
      ask(line, {
        path: `${pathOf(given)}/token`,
        body: {},
        signal: given.signal,
      }),
    get: (given) => ask(line, { path: pathOf(given), signal: given.signal }),
    list: ({ before, signal, ...filter } = {}) =>
      loadPages(
        line,
        { before, signal },
        (cursor) => all + queryOf({ ...filter, before: cursor }),
      ),
    charge: ({ chargeId, amount, ...given }) =>
      ask(line, {
        path: `${pathOf(given)}/charges`,
        body: { chargeId, amount },
        signal: given.signal,
      }),
    listCharges: ({ before, limit, signal, ...given }) =>
      loadPages(
        line,
        { before, signal },
        (cursor) =>
          `${pathOf(given)}/charges${queryOf({ limit, before: cursor })}`,
      ),
    cancel: (given) =>
      ask(line, {
        path: `${pathOf(given)}/cancel`,
        body: {},
        signal: given.signal,
      }),
    restart: (given) =>
      ask(
        line,
        { path: `${pathOf(given)}/restart`, body: {}, signal: given.signal },
        () => undefined,
      ),
  }
}
