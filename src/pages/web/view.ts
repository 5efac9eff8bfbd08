import type { BuyerState } from '../../client/BuyerClient.js'
import { describePoint } from './describePoint.js'
import { detailsPart } from './details.js'
import { type Child, h } from './dom.js'
import { formatTimeLeft } from './format.js'
import { canCancel, isEndSent, type Model, timeOf } from './model.js'
import type { PageData } from './pageData.js'
import {
  type Actions,
  accountPart,
  button,
  factList,
  failurePart,
  linkTransaction,
  messageCard,
  notice,
  type PayPartParameters,
  renderFault,
  type WalletModel,
  walletPart,
} from './parts.js'
import { stepsPart } from './steps.js'
import { networkName, type PricedOrder, totalOf } from './words.js'

export type ViewParameters = PayPartParameters & {
  data: PageData
  orderId: string
  actions: Actions
}

/** Renders all parts of the main element. */
export function renderView(
  model: Model,
  parameters: ViewParameters,
): { title: string; parts: readonly Child[] } {
  const { format, actions } = parameters
  const { order, link } = model
  if (link === 'notFound') return renderFault('notFound', format)
  if (!order) {
    const title = format.say('loading')
    const text = link === 'lost' ? format.say('lost') : ''
    return { title, parts: [messageCard(title, text)] }
  }
  const { title, text } = describePoint(model, order, parameters)
  const card = h(
    'section',
    { class: 'card', 'data-state': order.state },
    h('h1', {}, title),
    h('p', { class: 'quiet' }, text),
    h('p', { class: 'amount' }, totalOf(order, parameters)),
    facts(model, order, parameters),
    failurePart(model, parameters),
    link === 'lost' &&
      notice(format.say(model.task === 'sending' ? 'keepOpen' : 'lost')),
    order.state === 'drafted' && payPart(model, order, parameters),
    canCancel(model) &&
      !model.call &&
      !isEndSent(model) &&
      cancelPart(model, parameters),
    callPart(model, parameters),
    endPart(model, order, parameters),
  )
  return {
    title,
    parts: [
      card,
      stepsPart(model, order, parameters),
      detailsPart(model, parameters, actions.toggleDetails),
    ],
  }
}

function facts(
  model: Model,
  order: BuyerState,
  parameters: ViewParameters,
): HTMLElement {
  const { format, data, orderId, token } = parameters
  const { say, time } = format
  const { state, recipient, transaction, window } = order
  const until = Number(window.validBefore)
  const isCharged = state === 'captured'
  const paidAt = isCharged ? timeOf(model, 'captured') : undefined
  const isRunning = ['drafted', 'stored', 'capturing'].includes(state)
  const label = state === 'drafted' ? 'signUntil' : 'chargeUntil'
  const payee = h(
    'span',
    {},
    h('strong', {}, data.name),
    h('span', { class: 'hex' }, recipient),
  )
  const rows: (readonly [string, string | Node])[] = [
    [say('paidTo'), payee],
    [say('network'), networkName(parameters)],
    [say('order'), orderId],
  ]
  if (isRunning) {
    rows.push([say(label), time(until)])
    rows.push([say('timeLeft'), countdown(until, parameters)])
  }
  if (paidAt !== undefined) rows.push([say('paidAt'), time(paidAt)])
  if (transaction)
    rows.push([
      say('transaction'),
      linkTransaction(transaction.hash, token?.explorer),
    ])
  for (const refund of order.refunds)
    if (refund.transaction)
      rows.push([
        say('refund'),
        linkTransaction(refund.transaction.hash, token?.explorer),
      ])
  return factList(rows)
}

/** Counts down, without another rendering of the page. */
function countdown(
  until: number,
  { format, now }: ViewParameters,
): HTMLElement {
  const text = now < until ? formatTimeLeft(until - now) : format.say('over')
  return h(
    'span',
    { class: 'ticking', role: 'timer', 'data-until': String(until) },
    text,
  )
}

export function payPart(
  model: WalletModel,
  order: OpenOrder,
  parameters: PayPartParameters,
): Child {
  const { format, actions, now, token } = parameters
  const { say } = format
  const { connection, task } = model
  if (!token) return notice(say('unexpectedText'))
  if (now >= Number(order.window.validBefore) && !task)
    return notice(say('tooLateText'))
  if (!connection) return walletPart(model, parameters, 'walletsText')
  const isBusy = task !== undefined
  return [
    accountPart(model, parameters),
    button(
      task && task !== 'canceling'
        ? say(task)
        : say('sign', { amount: totalOf(order, parameters) }),
      'pay',
      actions.pay,
      { isPrimary: true, isBusy },
    ),
    task === 'signing' && button(say('stopWaiting'), 'stop', actions.stop),
  ]
}

/** An order that can be paid, with the end of its window. */
export type OpenOrder = PricedOrder & {
  window: Pick<BuyerState['window'], 'validBefore'>
}

function cancelPart(model: Model, parameters: ViewParameters): Child {
  const { format, actions } = parameters
  const { connection, isChoosing, task } = model
  const isBusy = task !== undefined
  if (isChoosing && !connection)
    return walletPart(model, parameters, 'walletsToCancel')
  return [
    accountPart(model, parameters),
    h(
      'div',
      { class: 'row' },
      button(
        format.say(task === 'canceling' ? 'canceling' : 'cancel'),
        'cancel',
        actions.cancel,
        { isBusy },
      ),
      task === 'canceling' &&
        button(format.say('stopWaiting'), 'stop', actions.stop),
    ),
  ]
}

function callPart(model: Model, { format, actions }: ViewParameters): Child {
  const isSent = isEndSent(model)
  if ((!model.call && !isSent) || !canCancel(model)) return undefined
  const { say } = format
  return h(
    'div',
    { class: 'notice' },
    h('h2', {}, say('sendItTitle')),
    h('p', {}, say(isSent ? 'sentText' : 'sendItText')),
    !isSent && button(say('sendIt'), 'send', actions.sendCall),
  )
}

function endPart(
  { task }: Model,
  { state }: BuyerState,
  { format, data, actions }: ViewParameters,
): Child {
  const { say } = format
  const isPaid = state === 'captured'
  const print = isPaid ? actions.print : undefined
  if (task || (!data.returnUrl && !print)) return undefined
  return h(
    'div',
    { class: 'row' },
    data.returnUrl &&
      h(
        'a',
        {
          class: isPaid ? 'button primary' : 'button',
          href: data.returnUrl,
          'data-key': 'back',
        },
        say('backToShop'),
      ),
    print && button(say('print'), 'print', print),
  )
}
