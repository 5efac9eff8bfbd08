import type { BuyerState } from '../../client/BuyerClient.js'
import { detailsPart, factList } from './details.js'
import { type Child, h } from './dom.js'
import { type Format, formatTimeLeft, shortenAddress } from './format.js'
import { canCancel, isEndSent, type Model, timeOf } from './model.js'
import type { PageData } from './pageData.js'
import { stepsPart } from './steps.js'
import type { FoundWallet } from './wallets.js'
import {
  describePoint,
  failureText,
  networkName,
  type PricedOrder,
  totalOf,
  type Words,
} from './words.js'

/** What the buyer can do on the page. */
export type Actions = {
  choose(wallet: FoundWallet): void
  changeAccount(): void
  pay(): void
  stop(): void
  cancel(): void
  switchChain(): void
  sendCall(): void
  toggleDetails(isOpen: boolean): void
  /** Prints the page. Missing if the page shows more than the payment. */
  print?: (() => void) | undefined
}

/** Parameters of the parts that choose a wallet and pay. */
export type PayPartParameters = Words & {
  actions: Pick<
    Actions,
    'choose' | 'changeAccount' | 'pay' | 'stop' | 'switchChain'
  >
  /** Unix seconds. */
  now: number
}

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

/** Renders that the order does not exist, or is another buyer's. */
/** Shows why there is no payment to show. */
export function renderFault(
  reason: 'notFound' | 'wrongAddress',
  { say }: Format,
): {
  title: string
  text: string
  parts: readonly Node[]
} {
  const title = say(`${reason}Title`)
  const text = say(`${reason}Text`)
  return { title, text, parts: [messageCard(title, text)] }
}

export function messageCard(title: string, text: string): HTMLElement {
  return h(
    'section',
    { class: 'card loading' },
    h('h1', {}, title),
    h('p', {}, text),
  )
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

export function linkTransaction(
  text: string,
  explorer: string | undefined,
): HTMLElement {
  return explorer
    ? h(
        'a',
        {
          class: 'hex',
          href: `${explorer}/tx/${text}`,
          target: '_blank',
          rel: 'noreferrer',
        },
        text,
      )
    : h('span', { class: 'hex' }, text)
}

export function notice(text: string, ...more: readonly Child[]): HTMLElement {
  return h('div', { class: 'notice' }, h('p', {}, text), more)
}

export function failurePart(
  {
    failure,
    isUnneeded,
    order,
  }: Partial<Pick<Model, 'failure' | 'isUnneeded'>> & {
    order?: PricedOrder | undefined
  },
  parameters: PayPartParameters,
): HTMLElement | undefined {
  const { format, actions } = parameters
  const { say } = format
  if (isUnneeded)
    return h(
      'div',
      { class: 'notice', role: 'alert' },
      h('h2', {}, say('notUsedTitle')),
      h('p', {}, say('notUsedText')),
    )
  if (!failure) return undefined
  const { title, text } = failureText(failure, order, parameters)
  return h(
    'div',
    {
      class: failure.isSerious ? 'notice bad' : 'notice',
      role: 'alert',
    },
    h('h2', {}, title),
    h('p', {}, text),
    failure.help === 'switchNetwork' &&
      button(
        say('switchNetwork', { network: networkName(parameters) }),
        'switch',
        actions.switchChain,
      ),
  )
}

export function button(
  text: string,
  key: string,
  click: () => void,
  {
    isPrimary = false,
    isBusy = false,
  }: { isPrimary?: boolean; isBusy?: boolean } = {},
): HTMLElement {
  return h(
    'button',
    {
      type: 'button',
      class: isPrimary && 'primary',
      'data-key': key,
      // Not `disabled`, which would lose the focus.
      'aria-disabled': isBusy && 'true',
      click: () => {
        if (!isBusy) click()
      },
    },
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

type WalletModel = Pick<Model, 'connection' | 'task' | 'wallets'>

export function accountPart(
  { connection, task }: WalletModel,
  { format, actions }: PayPartParameters,
): Child {
  if (!connection) return undefined
  const { wallet, account } = connection
  const name = wallet.name || format.say('otherWallet')
  return h(
    'div',
    { class: 'account' },
    h(
      'p',
      {},
      h('span', { class: 'quiet' }, `${format.say('payFrom')} (${name})`),
      h('span', { class: 'hex', title: account }, shortenAddress(account)),
    ),
    !task && button(format.say('change'), 'change', actions.changeAccount),
  )
}

export function walletPart(
  { wallets, task }: WalletModel,
  { format, actions }: PayPartParameters,
  text: 'walletsText' | 'walletsToCancel',
): HTMLElement {
  const { say } = format
  if (wallets.length === 0)
    return h(
      'div',
      { class: 'notice' },
      h('h2', {}, say('noWalletTitle')),
      h('p', {}, say('noWalletText')),
    )
  const isBusy = task !== undefined
  return h(
    'div',
    { class: 'wallets' },
    h('h2', { id: 'wallets' }, say('wallets')),
    h(
      'p',
      { class: 'quiet' },
      say(task === 'connecting' ? 'connecting' : text),
    ),
    h(
      'ul',
      { 'aria-labelledby': 'wallets' },
      wallets.map((wallet) =>
        h(
          'li',
          {},
          h(
            'button',
            {
              type: 'button',
              'data-key': `wallet-${wallet.id}`,
              'aria-disabled': isBusy && 'true',
              click: () => {
                if (!isBusy) actions.choose(wallet)
              },
            },
            wallet.icon && h('img', { src: wallet.icon, alt: '' }),
            wallet.name || say('otherWallet'),
          ),
        ),
      ),
    ),
    isBusy && button(say('stopWaiting'), 'stop', actions.stop),
  )
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
