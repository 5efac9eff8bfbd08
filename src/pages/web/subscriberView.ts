import { formatAmount } from '../../core/amount.js'
import type { PageWords } from '../words/types.js'
import { type Child, h } from './dom.js'
import type { Format } from './format.js'
import { formatPeriod } from './formatPeriod.js'
import {
  accountPart,
  button,
  factList,
  failurePart,
  linkTransaction,
  messageCard,
  notice,
  type PayPartParameters,
  renderFault,
  walletPart,
} from './parts.js'
import { canEnd, type SubscriberModel, timesOf } from './subscriber.js'
import { money, networkName, type PricedOrder } from './words.js'

/** What the buyer can do on the page of a subscription. */
export type SubscriberActions = PayPartParameters['actions'] & {
  /** Asks whether to cancel, or stops asking. */
  ask(isAsking: boolean): void
  cancel(): void
  toggleDetails(isOpen: boolean): void
}

export type SubscriberViewParameters = Omit<PayPartParameters, 'actions'> & {
  format: Format<keyof PageWords>
  language: string
  actions: SubscriberActions
  returnUrl: string | undefined
}

type Shown = NonNullable<SubscriberModel['subscription']>

/** Renders all parts of the main element. */
export function renderSubscriber(
  model: SubscriberModel,
  parameters: SubscriberViewParameters,
): { title: string; parts: readonly Child[] } {
  const { format, data } = parameters
  const { say } = format
  const { link, subscription } = model
  if (link === 'notFound') return renderFault('notFound', format)
  const lost = link === 'lost' ? say('lost') : ''
  if (!subscription) {
    const title = say('loadingSubscription')
    return { title, parts: [messageCard(title, lost)] }
  }
  const { state } = subscription
  const title = say(`${state}Subscription`, { name: data.name })
  const most = mostOf(subscription, parameters)
  const card = h(
    'section',
    { class: 'card', 'data-state': state },
    h('h1', {}, title),
    h(
      'p',
      { class: 'quiet' },
      say(`${state}SubscriptionText`, { amount: most }),
    ),
    h('p', { class: 'amount' }, priceOf(subscription, parameters)),
    factList(factsOf(subscription, parameters)),
    failurePart(
      { failure: model.failure, order: pricedOf(subscription, parameters) },
      parameters,
    ),
    lost && notice(lost),
    state === 'drafted' && signPart(model, parameters),
    canEnd(subscription) && cancelPart(model, parameters),
    endPart(model, parameters),
  )
  const parts = [
    card,
    chargesPart(subscription, parameters),
    detailsPart(model, subscription, parameters),
  ]
  return { title, parts }
}

/** What a text about a failure says that the subscription costs. */
export function pricedOf(
  subscription: Shown,
  { token }: Pick<SubscriberViewParameters, 'token'>,
): PricedOrder {
  const { amount } = subscription
  const most = allowanceOf(subscription, token?.decimals)
  return { amount: amount ?? most, atMost: undefined, state: 'drafted' }
}

function allowanceOf({ permission }: Shown, decimals?: number): string {
  return formatAmount(BigInt(permission.message.allowance), decimals)
}

function mostOf(
  subscription: Shown,
  parameters: SubscriberViewParameters,
): string {
  const most = allowanceOf(subscription, parameters.token?.decimals)
  return money(most, parameters)
}

function lengthOf(
  { permission }: Shown,
  { language }: SubscriberViewParameters,
): string {
  return formatPeriod(Number(permission.message.period), language)
}

/** Such as `10.00 USDC per 30 days`. */
function priceOf(
  subscription: Shown,
  parameters: SubscriberViewParameters,
): string {
  const { say } = parameters.format
  const { amount } = subscription
  return say('perPeriod', {
    amount:
      amount === undefined
        ? say('upTo', { amount: mostOf(subscription, parameters) })
        : money(amount, parameters),
    period: lengthOf(subscription, parameters),
  })
}

function factsOf(
  subscription: Shown,
  parameters: SubscriberViewParameters,
): (readonly [string, string | Node])[] {
  const { format, data, now } = parameters
  const { say, time } = format
  const { recipient, payer, state } = subscription
  const { start, end, periods, next } = timesOf(subscription)
  const payee = h(
    'span',
    {},
    h('strong', {}, data.name),
    h('span', { class: 'hex' }, recipient),
  )
  const rows: (readonly [string, string | Node])[] = [
    [say('paidTo'), payee],
    [say('account'), h('span', { class: 'hex' }, payer)],
    [say('network'), networkName(parameters)],
    [say('mostPerPeriod'), mostOf(subscription, parameters)],
    [say('periodLength'), lengthOf(subscription, parameters)],
    [
      say('periodCount'),
      periods === undefined ? say('noEnd') : String(periods),
    ],
    [say('starts'), time(start)],
    [say('ends'), end === undefined ? say('noEnd') : time(end)],
  ]
  if (next !== undefined)
    rows.push([say('nextCharge'), next <= now ? say('soon') : time(next)])
  if (state === 'drafted' || canEnd(subscription))
    rows.push([say('ifItFails'), say('ifItFailsText')])
  return rows
}

function signPart(
  model: SubscriberModel,
  parameters: SubscriberViewParameters,
): Child {
  const { format, actions, now, token } = parameters
  const { say } = format
  const { connection, task, subscription } = model
  const end = Number(subscription?.permission.message.end)
  if (!token) return notice(say('unexpectedText'))
  if (now >= end && !task) return notice(say('tooLateText'))
  if (!connection) return walletPart(model, parameters, 'walletsText')
  return [
    accountPart(model, parameters),
    button(
      task && task !== 'canceling' ? say(task) : say('signSubscription'),
      'pay',
      actions.pay,
      { isPrimary: true, isBusy: task !== undefined },
    ),
    task === 'signing' && button(say('stopWaiting'), 'stop', actions.stop),
  ]
}

function cancelPart(
  { isAsking, task }: SubscriberModel,
  { format, actions }: SubscriberViewParameters,
): Child {
  const { say } = format
  const isBusy = task !== undefined
  if (!isAsking)
    return h(
      'div',
      { class: 'row' },
      button(say('cancelSubscription'), 'cancel', () => actions.ask(true)),
    )
  return h(
    'div',
    { class: 'notice', role: 'alert' },
    h('h2', {}, say('askCancel')),
    h('p', {}, say('askCancelText')),
    h(
      'div',
      { class: 'row' },
      // The same key as before, so that the focus stays here.
      button(
        say(isBusy ? 'canceling' : 'cancelNow'),
        'cancel',
        actions.cancel,
        {
          isBusy,
        },
      ),
      !isBusy &&
        button(say('keepSubscription'), 'keep', () => actions.ask(false)),
    ),
  )
}

function chargesPart(
  { charges }: Shown,
  parameters: SubscriberViewParameters,
): Child {
  const { say, time } = parameters.format
  const { explorer } = parameters.token ?? {}
  if (charges.length === 0) return undefined
  const items = charges.map(({ state, amount, window, transaction }) => {
    const isPaid = state === 'captured'
    const isOpen = state === 'stored' || state === 'capturing'
    const status = isPaid ? 'done' : isOpen ? 'now' : 'next'
    const word = isPaid ? 'chargePaid' : isOpen ? 'chargeOpen' : 'chargeFailed'
    const since = Number(window.validAfter) + 1
    return h(
      'li',
      { class: `step ${status}` },
      h('span', { class: 'step-title' }, money(amount, parameters)),
      h('span', { class: 'quiet' }, say(word, { time: time(since) })),
      isPaid &&
        transaction !== null &&
        linkTransaction(transaction.hash, explorer),
    )
  })
  return h(
    'section',
    { class: 'card', 'aria-labelledby': 'charges' },
    h('h2', { id: 'charges' }, say('charges')),
    h('ol', { class: 'steps' }, items),
  )
}

/** The permission as the wallet is asked to sign it. */
function detailsPart(
  { showsDetails }: SubscriberModel,
  subscription: Shown,
  parameters: SubscriberViewParameters,
): Child {
  const { format, actions } = parameters
  const { say, time } = format
  const { domain, message } = subscription.permission
  const { end } = timesOf(subscription)
  return h(
    'details',
    {
      class: 'card details',
      open: showsDetails,
      toggle: ({ currentTarget }) =>
        actions.toggleDetails((currentTarget as HTMLDetailsElement).open),
    },
    h('summary', { 'data-key': 'details' }, say('details')),
    h('p', { class: 'quiet' }, say('detailsText')),
    factList([
      [say('message'), say('SpendPermission')],
      [say('manager'), domain.verifyingContract],
      [say('network'), `${networkName(parameters)} (${domain.chainId})`],
      [say('from'), message.account],
      [say('to'), message.spender],
      [say('contract'), message.token],
      [say('mostPerPeriod'), mostOf(subscription, parameters)],
      [say('periodLength'), lengthOf(subscription, parameters)],
      [say('validAfter'), time(Number(message.start))],
      [say('validBefore'), end === undefined ? say('noEnd') : time(end)],
      [say('salt'), message.salt],
      [say('extraData'), message.extraData],
    ]),
  )
}

function endPart(
  { task }: SubscriberModel,
  { format, returnUrl }: SubscriberViewParameters,
): Child {
  if (task || !returnUrl) return undefined
  return h(
    'div',
    { class: 'row' },
    h(
      'a',
      { class: 'button', href: returnUrl, 'data-key': 'back' },
      format.say('backToShop'),
    ),
  )
}
