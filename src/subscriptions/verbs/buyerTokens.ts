import { checkMembers } from '../../core/checkMembers.js'
import { drawBuyerToken, hashBuyerToken } from '../../orders/engine.js'
import { writeAgain } from '../../store/writeAgain.js'
import {
  type Subscription,
  showSubscription,
} from '../schedule/showSubscription.js'
import {
  idMembers,
  type SubscriptionIdParameters,
} from './cancelSubscription.js'
import { loadSubscription, type SubscriptionsContext } from './context.js'
import { parseSubscriptionId } from './draftSubscription.js'
import { SubscriptionNotFoundError } from './errors.js'

/** The secret of the person who pays a subscription. */
export type IssuedBuyerToken = {
  /**
   * Secret that gives all rights of the buyer: to read, sign and cancel the
   * subscription. We store only its hash.
   */
  buyerToken: string
}

/** Parameters of `getForBuyer`: a subscription and the token of its buyer. */
export type SubscriptionForBuyerParameters = SubscriptionIdParameters & {
  /** What `issueBuyerToken` returned last for this subscription. */
  buyerToken: string
}

/** Implements `issueBuyerToken` of `Subscriptions`. */
export function issueBuyerToken(
  { context }: SubscriptionsContext,
  parameters: SubscriptionIdParameters,
): Promise<IssuedBuyerToken> {
  checkMembers(parameters, idMembers)
  const id = parseSubscriptionId(parameters.subscriptionId)
  const buyerToken = drawBuyerToken()
  const buyerTokenHash = hashBuyerToken(buyerToken, context.keccak256)
  return writeAgain(context, async (tables) => {
    const { held } = await loadSubscription(tables, context, id)
    await tables.orders.update([{ ...held.order, buyerTokenHash, tries: 0 }])
    return { buyerToken }
  })
}

/** Implements `getForBuyer` of `Subscriptions`. */
export function getSubscriptionForBuyer(
  { context }: SubscriptionsContext,
  parameters: SubscriptionForBuyerParameters,
): Promise<Subscription> {
  checkMembers(parameters, ['subscriptionId', 'buyerToken'])
  const { buyerToken } = parameters
  const id = parseSubscriptionId(parameters.subscriptionId)
  // A value that is not a string gets the same answer as a wrong token.
  const hash = hashBuyerToken(
    typeof buyerToken === 'string' ? buyerToken : '',
    context.keccak256,
  )
  return context.store.read(async (tables) => {
    // Compared before the rest is loaded, so that the time of the answer does
    // not tell whether the subscription exists.
    const [order] = await tables.orders.find({ ids: [id] })
    if (order?.buyerTokenHash !== hash)
      throw new SubscriptionNotFoundError({ subscriptionId: id })
    return showSubscription(await loadSubscription(tables, context, id))
  })
}
