/** What the page of a subscription says besides, in English. */
export const englishSubscriptionWords = {
  loadingSubscription: 'Loading your subscription',
  draftedSubscription: 'Subscribe to {name}',
  draftedSubscriptionText:
    'You sign once. The shop can then charge up to {amount} in each period, and never more, until the subscription ends or is canceled. Signing costs no fee.',
  activeSubscription: 'Subscription active',
  activeSubscriptionText:
    'The shop charges your account in each period, without asking you again. You can cancel at any time.',
  pastDueSubscription: 'A period was not charged',
  pastDueSubscriptionText:
    'The shop can try again, or charge the next period. Check that there is enough money in your account.',
  unpaidSubscription: 'The shop stopped charging',
  unpaidSubscriptionText:
    'Charges did not go through. Your permission still holds, so the shop can start again. Cancel the subscription to end it, or contact the shop to continue.',
  cancelingSubscription: 'Your cancellation is on its way',
  cancelingSubscriptionText:
    'The shop makes no new charges. A charge that was already sent can still go through. Once the network has the cancellation, you can never be charged for this subscription again.',
  canceledSubscription: 'Subscription canceled',
  canceledSubscriptionText:
    'You can never be charged for this subscription again.',
  endedSubscription: 'Subscription ended',
  endedSubscriptionText:
    'The subscription is over. You can never be charged for it again.',
  perPeriod: '{amount} per {period}',
  mostPerPeriod: 'At most in each period',
  periodLength: 'Length of a period',
  periodCount: 'Number of periods',
  starts: 'Starts',
  ends: 'Ends',
  noEnd: 'no end',
  nextCharge: 'Next charge',
  soon: 'in a moment',
  ifItFails: 'If a charge fails',
  ifItFailsText:
    'The shop can try again in the same period, or stop charging. A failed charge costs you nothing.',
  signSubscription: 'Sign subscription',
  cancelSubscription: 'Cancel subscription',
  askCancel: 'Cancel this subscription?',
  askCancelText:
    'The shop makes no new charges, and takes its permission back on the network at its own cost. A charge that was already sent can still go through. To subscribe again later, you sign again.',
  cancelNow: 'Yes, cancel it',
  keepSubscription: 'Keep it',
  charges: 'Charges',
  chargePaid: 'Paid for the period from {time}',
  chargeOpen: 'On its way, for the period from {time}',
  chargeFailed: 'Not charged for the period from {time}',
  SpendPermission: 'Permission to charge you in each period',
  manager: 'Contract that keeps the limit',
  extraData: 'Extra data',
} as const
