import { CountersignError } from '../../core/CountersignError.js'

/** These subscriptions contain none with this id. */
export class SubscriptionNotFoundError extends CountersignError {
  override readonly name = 'SubscriptionNotFoundError'

  constructor({ subscriptionId }: { subscriptionId: string }) {
    super(`There is no subscription ${JSON.stringify(subscriptionId)}.`, {
      subscriptionId,
    })
  }
}
