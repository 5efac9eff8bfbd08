import type { BuyerState } from '../../client/BuyerClient.js'
import { InvalidFieldError } from '../../core/errors.js'
import { createActions } from './createActions.js'
import { describePoint } from './describePoint.js'
import type { Place } from './dom.js'
import { requestDraft } from './draft.js'
import { followOrder } from './followOrder.js'
import { createFormat } from './format.js'
import type { Model } from './model.js'
import { type OpenedBuyer, type OrderLink, openBuyer } from './openBuyer.js'
import type { PageData } from './pageData.js'
import { renderFault } from './parts.js'
import { createReporter, type OnPaymentEvent } from './reportEvents.js'
import { createScreen, type Screen } from './screen.js'
import { findWallets } from './wallets.js'

export type ShowPaymentParameters = {
  data: PageData
  /** Missing if the address names no order. */
  link: OrderLink | undefined
  place: Place
  print?: (() => void) | undefined
  onEvent?: OnPaymentEvent | undefined
  /** Stops everything except sending a payment that is already signed. */
  signal: AbortSignal
}

/**
 * Shows an order to its buyer, who chooses a wallet, signs, follows the payment
 * and cancels it.
 */
export function showPayment(parameters: ShowPaymentParameters): void {
  const { data, link, place, print, signal } = parameters
  const report = createReporter(
    link?.orderId ?? '',
    parameters.onEvent ?? (() => {}),
  )
  const opened = open(link, data, () => screen.change({ link: 'lost' }))
  if (!link || !opened || opened.fault) {
    const reason = opened?.fault ? 'wrongAddress' : 'notFound'
    const { title, text, parts } = renderFault(reason, createFormat(data))
    place.main.replaceChildren(...parts)
    place.status.textContent = title
    report.fail(reason, { title, text })
    return
  }
  const { buyer, now } = opened

  const showOrder = (order: BuyerState, changes: Partial<Model> = {}): void => {
    screen.change({ order, ...changes })
    report.see(order, describePoint(screen.model(), order, screen.words()))
  }
  const screen: Screen = createScreen({
    data,
    orderId: link.orderId,
    place,
    now,
    signal,
    createActions: (shown) =>
      createActions({
        screen: shown,
        orderId: link.orderId,
        opened,
        tokens: data.tokens,
        report,
        showOrder,
        print,
        signal,
      }),
  })

  /** Reads what is to be signed, which is new with each attempt. */
  const readDraft = async (): Promise<void> => {
    const draft = await requestDraft(buyer, signal).catch(() => undefined)
    if (draft && screen.model().order?.state === 'drafted')
      screen.change({ draft })
  }

  findWallets((wallets) => screen.change({ wallets }), signal)
  followOrder(buyer, {
    signal,
    onReachable: (isReachable) =>
      screen.change({ link: isReachable ? 'live' : 'lost' }),
    onNews: ({ type, at, order }) => {
      const model = screen.model()
      const wasOpen = model.order?.state === 'drafted'
      const isOpen = order.state === 'drafted'
      const events =
        type === 'status' ? model.events : [...model.events, { type, at }]
      const isUnneeded =
        (wasOpen && !isOpen && model.task === 'signing') || model.isUnneeded
      // Belongs to the attempt before.
      const call = type === 'reauthorized' ? undefined : model.call
      showOrder(order, { events, isUnneeded, call, link: 'live' })
      if (isOpen && (!model.draft || type === 'reauthorized')) readDraft()
    },
  }).catch(() => {
    screen.change({ link: 'notFound' })
    report.fail('notFound', renderFault('notFound', screen.words().format))
  })
}

/**
 * Returns `undefined` if the link names no order, and the fault if the address
 * of the routes is wrong.
 */
function open(
  link: OrderLink | undefined,
  { payments }: PageData,
  onRetry: () => void,
):
  | (OpenedBuyer & { fault?: undefined })
  | { fault: InvalidFieldError }
  | undefined {
  if (!link) return undefined
  try {
    return openBuyer({ link, payments, onRetry })
  } catch (error) {
    if (!(error instanceof InvalidFieldError)) throw error
    return error.details.field === 'url' ? { fault: error } : undefined
  }
}
