import { type Child, h } from './dom.js'
import { type Format, shortenAddress } from './format.js'
import type { Model } from './model.js'
import type { FoundWallet } from './wallets.js'
import {
  failureText,
  networkName,
  type PricedOrder,
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

export type WalletModel = Pick<Model, 'connection' | 'task' | 'wallets'>

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

/** A list of names and values. */
export function factList(
  rows: readonly (readonly [name: string, value: string | Node])[],
): HTMLElement {
  return h(
    'dl',
    {},
    rows.map(([name, value]) =>
      h('div', {}, h('dt', {}, name), h('dd', {}, value)),
    ),
  )
}
