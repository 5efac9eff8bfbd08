import type { BuyerState } from '../../client/BuyerClient.js'
import { InvalidFieldError } from '../../core/errors.js'
import { cancel, sendCancellation } from './cancel.js'
import { showParts } from './dom.js'
import { requestDraft } from './draft.js'
import { explainFailure, NotOpen } from './failures.js'
import { followOrder } from './followOrder.js'
import { followWallet } from './followWallet.js'
import { createFormat, formatTimeLeft } from './format.js'
import { looksOf, type Model, tokenOf } from './model.js'
import { type OpenedBuyer, openBuyer } from './openBuyer.js'
import type { PageData } from './pageData.js'
import { pay, switchNetwork } from './pay.js'
import { readLink, readPageData } from './readPageData.js'
import { type Actions, renderView } from './view.js'
import { type Connection, connect, findWallets } from './wallets.js'

const data = readPageData<PageData>()
const format = createFormat(data)

let model: Model = {
  link: 'live',
  events: [],
  wallets: [],
  isChoosing: false,
  isUnneeded: false,
  isCallSent: false,
  showsDetails: false,
}
let shown = ''
let asking = new AbortController()

function change(changes: Partial<Model>): void {
  model = { ...model, ...changes }
  render()
}

/** Renders the page again if anything that it shows has changed. */
function render(isForced = false): void {
  const looks = looksOf(model)
  if (looks === shown && !isForced) return
  shown = looks
  const { title, parts } = renderView(model, {
    format,
    data,
    token: tokenOf(model, data.tokens),
    orderId: readOrderId(),
    actions,
    now: now(),
  })
  showParts(title, parts)
}

/** Runs what the buyer asked for; one thing at a time. */
async function run(
  task: Model['task'],
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (model.task) return
  const { signal } = asking
  change({ task, failure: undefined })
  let failure: Model['failure']
  try {
    await work(signal)
  } catch (error) {
    // The page says already that the order is not open any more.
    const isUnchanged =
      error instanceof NotOpen && model.order?.state !== 'drafted'
    failure = isUnchanged ? undefined : explainFailure(error)
  }
  // Else the buyer stopped it, and may wait for something else by now.
  if (!signal.aborted) change({ task: undefined, failure, isUnneeded: false })
}

/** Shows an answer, unless the order has left that state in the meantime. */
function showOrder(order: BuyerState, from: BuyerState['state']): void {
  if (model.order?.state === from) change({ order })
}

function current(): {
  connection: Connection
  order: BuyerState
  token: NonNullable<ReturnType<typeof tokenOf>>
} {
  const { connection, order } = model
  const token = tokenOf(model, data.tokens)
  if (!connection || !order || !token) throw new NotOpen()
  return { connection, order, token }
}

let isAgain = false

const actions: Actions = {
  choose: (wallet) => {
    const isToCancel = model.isChoosing
    run('connecting', async (signal) => {
      const connection = await connect(wallet, isAgain)
      if (signal.aborted) return
      isAgain = false
      followWallet(wallet, { model: () => model, change })
      change({ connection, isChoosing: false })
    }).then(() => {
      if (isToCancel && model.connection) actions.cancel()
    })
  },
  changeAccount: () => {
    isAgain = true
    change({
      connection: undefined,
      failure: undefined,
      isChoosing: model.order?.state !== 'drafted',
    })
  },
  pay: () => {
    run('checking', async (signal) => {
      const { connection, order, token } = current()
      const stored = await pay({
        ...opened,
        connection,
        shown: order,
        token,
        onPhase: (task) => {
          if (!signal.aborted) change({ task })
        },
        isOpen: () => model.order?.state === 'drafted',
        signal,
      })
      showOrder(stored, 'drafted')
    })
  },
  stop: () => {
    asking.abort()
    asking = new AbortController()
    change({ task: undefined, isUnneeded: false })
  },
  cancel: () => {
    if (!model.connection) {
      change({ isChoosing: true })
      return
    }
    run('canceling', async (signal) => {
      const { connection, order, token } = current()
      const taken = await cancel({ ...opened, connection, token, signal })
      change({ call: taken.call })
      showOrder(taken.order, order.state)
    })
  },
  switchChain: () => {
    run('connecting', async () => {
      const { connection, token } = current()
      await switchNetwork(connection, token)
    })
  },
  sendCall: () => {
    run('canceling', async () => {
      const { connection, token } = current()
      if (!model.call) return
      await sendCancellation(connection, token, model.call)
      change({ isCallSent: true })
    })
  },
  toggleDetails: (showsDetails) => change({ showsDetails }),
}

/** Reads what is to be signed, which is new with each attempt. */
async function readDraft(): Promise<void> {
  const draft = await requestDraft(opened.buyer).catch(() => undefined)
  if (draft && model.order?.state === 'drafted') change({ draft })
}

function readOrderId(): string {
  return readLink().orderId
}

function now(): number {
  return opened?.now() ?? Math.floor(Date.now() / 1_000)
}

function open(): OpenedBuyer | undefined {
  try {
    return openBuyer(data, () => change({ link: 'lost' }))
  } catch (error) {
    // The address has no token, or no order.
    if (error instanceof InvalidFieldError || error instanceof URIError)
      return undefined
    throw error
  }
}

const opened = open() as OpenedBuyer

if (opened) {
  findWallets((wallets) => change({ wallets }))
  followOrder(opened.buyer, {
    onReachable: (isReachable) =>
      change({ link: isReachable ? 'live' : 'lost' }),
    onNews: ({ type, at, order }) => {
      const wasOpen = model.order?.state === 'drafted'
      const isOpen = order.state === 'drafted'
      const events =
        type === 'status' ? model.events : [...model.events, { type, at }]
      const isUnneeded =
        (wasOpen && !isOpen && model.task === 'signing') || model.isUnneeded
      change({ order, events, isUnneeded, link: 'live' })
      if (isOpen && (!model.draft || type === 'reauthorized')) readDraft()
    },
  }).catch(() => change({ link: 'notFound' }))
} else change({ link: 'notFound' })

// Another link to the same page changes nothing but what is behind the `#`.
addEventListener('hashchange', () => location.reload())

setInterval(() => {
  for (const element of document.querySelectorAll<HTMLElement>(
    '[data-until]',
  )) {
    const left = Number(element.dataset.until) - now()
    const text = left > 0 ? formatTimeLeft(left) : format.say('over')
    if (element.textContent === text) continue
    element.textContent = text
    if (left <= 0) render(true)
  }
}, 1_000)
