import type { Address } from 'viem'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { Subscriptions } from '../../subscriptions/Subscriptions.js'
import type { Subscription } from '../../subscriptions/schedule/showSubscription.js'
import type { ListedSubscriptions } from '../../subscriptions/verbs/listSubscriptions.js'
import type { SubscriptionDraftBody } from '../schemas/bodySchemas.js'
import {
  type BuyerSubscription,
  buyerSubscription,
} from '../schemas/buyerSubscription.js'
import type { PageQuery, QuerySchemas } from '../schemas/querySchemas.js'
import { answer } from './answer.js'
import { RequestRefusedError } from './errors.js'
import { parseKey, refuseUsedId } from './idempotencyKey.js'
import { integer } from './integer.js'
import { problem } from './problem.js'
import {
  type MerchantCall,
  merchantRoute,
  type Route,
  subscriberRoute,
} from './route.js'
import { isProblemReason } from './toProblem.js'

/**
 * The routes of subscriptions: those of merchants, each limited to the
 * merchant's recipients, and those of the person who pays, each of whom needs
 * the token of the subscription.
 */
export function subscriptionRoutes(
  subscriptions: Subscriptions,
  queries: Pick<QuerySchemas, 'subscriptions' | 'charges'>,
): readonly Route[] {
  return [
    ...ownRoutes(subscriptions, queries),
    ...chargeRoutes(subscriptions, queries),
    ...subscriberRoutes(),
  ]
}

function ownRoutes(
  subscriptions: Subscriptions,
  queries: Pick<QuerySchemas, 'subscriptions'>,
): readonly Route[] {
  return [
    merchantRoute({
      name: 'draftSubscription',
      method: 'POST',
      path: '/merchant/subscriptions',
      summary:
        'Drafts a subscription; the same Idempotency-Key is the same subscription',
      body: 'SubscriptionDraft',
      headers: {
        'Idempotency-Key':
          'The id of the subscription. Drawn at random if absent.',
      },
      answers: { 201: 'DraftedSubscription' },
      run: (call) => draft(subscriptions, call),
    }),
    merchantRoute({
      name: 'listSubscriptions',
      method: 'GET',
      path: '/merchant/subscriptions',
      summary: 'Lists subscriptions, the newest first',
      query: queries.subscriptions,
      answers: { 200: 'SubscriptionList' },
      run: async ({ recipients, query: { payer, ...page } }) => {
        const found = await subscriptions.list({ payer, ...pageOf(page) })
        return answer(200, onlyOf(recipients, found))
      },
    }),
    merchantRoute({
      name: 'getSubscription',
      method: 'GET',
      path: '/merchant/subscriptions/{subscriptionId}',
      summary: 'Reads a subscription',
      answers: { 200: 'Subscription' },
      run: async (call) => answer(200, await load(subscriptions, call)),
    }),
    merchantRoute({
      name: 'postPermissionSignature',
      method: 'POST',
      path: '/merchant/subscriptions/{subscriptionId}/signature',
      summary: 'Takes the signature of the permission; repeatable',
      body: 'PermissionSignature',
      answers: { 200: 'SubscriptionAnswer' },
      run: async ({ body: { signature }, ...call }) => {
        const { id } = await load(subscriptions, call)
        const asked = { subscriptionId: id, signature }
        const verdict = await subscriptions.accept(asked)
        const { subscription } = verdict
        return verdict.ok
          ? answer(200, { subscription })
          : refusePermission(verdict.reason, subscription)
      },
    }),
    merchantRoute({
      name: 'issueBuyerToken',
      method: 'POST',
      path: '/merchant/subscriptions/{subscriptionId}/token',
      summary: 'Issues a buyer token; the earlier one stops working',
      body: 'Nothing',
      answers: { 201: 'IssuedBuyerToken' },
      run: async (call) => {
        const { id } = await load(subscriptions, call)
        const asked = { subscriptionId: id }
        return answer(201, await subscriptions.issueBuyerToken(asked))
      },
    }),
    merchantRoute({
      name: 'cancelSubscription',
      method: 'POST',
      path: '/merchant/subscriptions/{subscriptionId}/cancel',
      summary: 'Stops charging, and has the permission revoked; repeatable',
      body: 'Nothing',
      answers: { 200: 'SubscriptionAnswer' },
      run: async (call) => {
        const { id } = await load(subscriptions, call)
        const verdict = await subscriptions.cancel({ subscriptionId: id })
        return answerOf(verdict)
      },
    }),
    merchantRoute({
      name: 'restartSubscription',
      method: 'POST',
      path: '/merchant/subscriptions/{subscriptionId}/restart',
      summary: 'Lets an unpaid subscription be charged again',
      body: 'Nothing',
      answers: { 200: 'SubscriptionAnswer' },
      run: async (call) => {
        const { id } = await load(subscriptions, call)
        const verdict = await subscriptions.restart({ subscriptionId: id })
        return answerOf(verdict)
      },
    }),
  ]
}

function chargeRoutes(
  subscriptions: Subscriptions,
  queries: Pick<QuerySchemas, 'charges'>,
): readonly Route[] {
  const path = '/merchant/subscriptions/{subscriptionId}/charges'
  return [
    merchantRoute({
      name: 'chargeSubscription',
      method: 'POST',
      path,
      summary: 'Charges in the current period, once for each chargeId',
      body: 'ChargeRequest',
      answers: { 200: 'Charge' },
      run: async ({ body, ...call }) => {
        const found = await load(subscriptions, call)
        const asked = { subscriptionId: found.id, ...body }
        const verdict = await subscriptions.charge(asked)
        return verdict.ok
          ? answer(200, { order: verdict.order })
          : refuseCharge(verdict.reason, found)
      },
    }),
    merchantRoute({
      name: 'listCharges',
      method: 'GET',
      path,
      summary: 'Lists the charges of a subscription, the newest first',
      query: queries.charges,
      answers: { 200: 'ChargeList' },
      run: async ({ query, ...call }) => {
        const { id } = await load(subscriptions, call)
        const asked = { subscriptionId: id, ...pageOf(query) }
        return answer(200, await subscriptions.charges(asked))
      },
    }),
  ]
}

/** The routes for the person who pays. */
function subscriberRoutes(): readonly Route[] {
  const path = '/subscriptions/{subscriptionId}'
  return [
    subscriberRoute({
      name: 'getOwnSubscription',
      method: 'GET',
      path,
      summary: 'Reads the subscription, its permission and its newest charges',
      answers: { 200: 'BuyerSubscription' },
      run: async ({ subscriptions, subscription }) =>
        answer(200, await showBuyer(subscriptions, subscription)),
    }),
    subscriberRoute({
      name: 'postOwnSignature',
      method: 'POST',
      path: `${path}/signature`,
      summary: 'Takes the signature of the permission; repeatable',
      body: 'PermissionSignature',
      answers: { 200: 'BuyerSubscription' },
      run: async ({ subscriptions, subscriptionId, body }) => {
        const asked = { subscriptionId, ...body }
        const verdict = await subscriptions.accept(asked)
        const { subscription } = verdict
        return verdict.ok
          ? answer(200, await showBuyer(subscriptions, subscription))
          : refusePermission(verdict.reason, subscription)
      },
    }),
    subscriberRoute({
      name: 'cancelOwnSubscription',
      method: 'POST',
      path: `${path}/cancellation`,
      summary: 'Stops charging, and has the permission revoked; repeatable',
      body: 'Nothing',
      answers: { 200: 'BuyerSubscription' },
      run: async ({ subscriptions, subscriptionId }) => {
        const verdict = await subscriptions.cancel({ subscriptionId })
        const { subscription } = verdict
        return verdict.ok
          ? answer(200, await showBuyer(subscriptions, subscription))
          : refuseState(subscription)
      },
    }),
  ]
}

/** Most charges that a buyer sees. */
const chargesShown = 12

async function showBuyer(
  subscriptions: Subscriptions,
  subscription: Subscription,
): Promise<BuyerSubscription> {
  const { id: subscriptionId } = subscription
  const asked = { subscriptionId, limit: chargesShown }
  const { charges } = await subscriptions.charges(asked)
  return buyerSubscription(subscription, charges)
}

type Draft = MerchantCall & { body: SubscriptionDraftBody }

/** Most characters of a subscription id. */
const longestId = 63

async function draft(
  subscriptions: Subscriptions,
  { request, recipients, basePath, body }: Draft,
): Promise<Response> {
  const subscriptionId = parseKey(request)
  if (subscriptionId && subscriptionId.length > longestId)
    throw new InvalidFieldError(
      'Idempotency-Key',
      shown(subscriptionId),
      `text of at most ${longestId} characters`,
    )
  const { period, start, end, ...fields } = body
  const only = recipients.length === 1 ? recipients[0] : undefined
  const { recipient = only } = body
  if (recipient === undefined || !isAmong(recipients, recipient))
    throw new InvalidFieldError(
      'recipient',
      shown(recipient),
      'a recipient that your access includes',
    )
  const drafted = await subscriptions
    .draft({
      ...fields,
      recipient,
      subscriptionId,
      period: BigInt(period),
      start: integer(start),
      end: integer(end),
    })
    .catch(refuseUsedId('subscriptionId', 'subscriptionIdInUse'))
  const { id } = drafted.subscription
  const location = `${basePath}/merchant/subscriptions/${encodeURIComponent(id)}`
  return answer(201, drafted, { location })
}

/**
 * Loads a subscription. One of another recipient gets the same answer as one
 * that does not exist.
 */
async function load(
  subscriptions: Subscriptions,
  {
    subscriptionId,
    recipients,
  }: Pick<MerchantCall, 'subscriptionId' | 'recipients'>,
): Promise<Subscription> {
  const found = await subscriptions.get({ subscriptionId })
  if (isAmong(recipients, found.recipient)) return found
  throw new RequestRefusedError('subscriptionNotFound')
}

function onlyOf(
  recipients: readonly Address[],
  { subscriptions, cursor }: ListedSubscriptions,
): ListedSubscriptions {
  const own = subscriptions.filter(({ recipient }) =>
    isAmong(recipients, recipient),
  )
  return { subscriptions: own, cursor }
}

function isAmong(recipients: readonly Address[], address: Address): boolean {
  const lower = address.toLowerCase()
  return recipients.some((one) => one.toLowerCase() === lower)
}

function pageOf({ before, limit }: PageQuery) {
  return {
    before: integer(before),
    limit: limit === undefined ? undefined : Number(limit),
  }
}

function answerOf({
  ok,
  subscription,
}: {
  ok: boolean
  subscription: Subscription
}): Response {
  return ok ? answer(200, { subscription }) : refuseState(subscription)
}

function refuseState({ state }: Pick<Subscription, 'state'>): Response {
  const detail = `The subscription is ${state}, which does not allow this.`
  return problem('notOpen', { detail })
}

function refusePermission(
  reason: string,
  subscription: Subscription,
): Response {
  if (reason === 'notOpen') return refuseState(subscription)
  const detail = `The permission was refused: ${reason}.`
  return problem(isProblemReason(reason) ? reason : 'permissionRejected', {
    detail,
  })
}

function refuseCharge(
  reason: Extract<
    Awaited<ReturnType<Subscriptions['charge']>>,
    { ok: false }
  >['reason'],
  subscription: Subscription,
): Response {
  switch (reason) {
    case 'notOpen':
      return refuseState(subscription)
    case 'voided':
      return problem('chargeVoided')
    case 'expired':
      return problem('expired', {
        status: 409,
        detail:
          'Its period ended before the charge was paid; charge under a new chargeId.',
      })
    case 'notYetValid':
      return problem('notYetValid', {
        status: 409,
        detail: 'The first period has not begun.',
      })
    case 'deadlinePassed':
      return problem('deadlinePassed', {
        detail: 'The period ends too soon to charge in it.',
      })
    default:
      return problem(reason)
  }
}
