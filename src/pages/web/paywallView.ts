import { detailsPart } from './details.js'
import { type Child, h } from './dom.js'
import { formatTimeLeft } from './format.js'
import type { Model } from './model.js'
import type { PaywallData } from './pageData.js'
import {
  type Actions,
  button,
  factList,
  failurePart,
  messageCard,
  notice,
  type PayPartParameters,
} from './parts.js'
import type { PageOffer } from './signOffer.js'
import { type OpenOrder, payPart } from './view.js'
import { failureText, money, networkName, type Words } from './words.js'

/** The state that the page shows. */
export type PaywallModel = Pick<
  Model,
  'draft' | 'wallets' | 'connection' | 'task' | 'failure' | 'showsDetails'
> & {
  /** Index of the offer to pay. */
  chosen: number
  /** False if the browser keeps no cookies of this page. */
  canKeep: boolean
  /** True if the paid answer takes long, or was a download. */
  isSlow: boolean
}

type PaywallParameters = PayPartParameters & {
  data: PaywallData
  offers: readonly PageOffer[]
  actions: Pick<Actions, 'toggleDetails'> & {
    pick(offer: number): void
    reload(): void
  }
}

/** Renders all parts of the main element. */
export function renderPaywall(
  model: PaywallModel,
  parameters: PaywallParameters,
): { title: string; parts: readonly Child[] } {
  const { format, data, offers, token, actions } = parameters
  const { say } = format
  const offer = offers[model.chosen]
  const { isLater, failure = unreachable } = data.answer
  if (isLater || !offer) {
    const { title, text } = failureText(failure, undefined, parameters)
    const card = messageCard(title, text)
    card.append(button(say('tryAgain'), 'again', actions.reload))
    return { title, parts: [card] }
  }
  const isSending = model.task === 'sending'
  const title = say(isSending ? 'signedTitle' : 'draftedTitle', {
    name: data.name,
  })
  const { amount, accepted } = offer
  const validBefore = String(parameters.now + accepted.maxTimeoutSeconds)
  const order: OpenOrder = {
    amount,
    state: 'drafted',
    window: { validBefore },
  }
  const card = h(
    'section',
    { class: 'card', 'data-state': 'drafted' },
    h('h1', {}, title),
    h('p', { class: 'quiet' }, say(isSending ? 'signedText' : 'paywallText')),
    h('p', { class: 'amount' }, money(amount, parameters)),
    facts(offer, parameters),
    failurePart({ ...model, order }, parameters),
    offersPart(model, parameters),
    model.canKeep ? payPart(model, order, parameters) : keepPart(parameters),
    model.isSlow &&
      notice(say('slowText'), button(say('tryAgain'), 'again', actions.reload)),
  )
  const shown = token
    ? detailsPart(model, parameters, actions.toggleDetails)
    : undefined
  return { title, parts: [card, shown] }
}

const unreachable = {
  reason: 'unreachable',
} as const

function facts(
  { accepted }: PageOffer,
  parameters: PaywallParameters,
): HTMLElement {
  const { format, data } = parameters
  const { say } = format
  const payee = h(
    'span',
    {},
    h('strong', {}, data.name),
    h('span', { class: 'hex' }, accepted.payTo),
  )
  const time = formatTimeLeft(accepted.maxTimeoutSeconds)
  return factList([
    [say('paidTo'), payee],
    ...(data.description
      ? ([[say('paidFor'), data.description]] as const)
      : []),
    [say('network'), networkName(parameters)],
    [say('validFor'), say('validForText', { time })],
  ])
}

/** Lets the buyer choose if there are several offers. */
function offersPart(
  { chosen, task }: PaywallModel,
  { format, data, offers, actions }: PaywallParameters,
): Child {
  if (offers.length < 2) return undefined
  return h(
    'fieldset',
    { class: 'offers', disabled: task !== undefined },
    h('legend', {}, format.say('offers')),
    offers.map(({ amount, token }, at) => {
      const words: Words = { format, data, token }
      const network = networkName(words)
      return h(
        'label',
        {},
        h('input', {
          type: 'radio',
          name: 'offer',
          'data-key': `offer-${at}`,
          checked: at === chosen,
          change: () => actions.pick(at),
        }),
        format.say('offer', { amount: money(amount, words), network }),
      )
    }),
  )
}

/**
 * Says what to do if the browser keeps no cookies: the page then asks for no
 * payment.
 */
function keepPart({ format }: PaywallParameters): HTMLElement {
  const { say } = format
  return h(
    'div',
    { class: 'notice', role: 'alert' },
    h('h2', {}, say('noCookiesTitle')),
    h('p', {}, say('noCookiesText')),
    window.top !== window.self &&
      h(
        'a',
        {
          class: 'button',
          href: location.href,
          target: '_blank',
          rel: 'noreferrer',
          'data-key': 'alone',
        },
        say('openAlone'),
      ),
  )
}
