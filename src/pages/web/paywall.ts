import { placeInPage, showParts } from './dom.js'
import { explainFailure, NotOpen } from './failures.js'
import { followWallet } from './followWallet.js'
import { createFormat } from './format.js'
import {
  canKeep,
  dropKept,
  keepPayment,
  nonceOfKept,
  readKept,
} from './keptPayment.js'
import { looksOf } from './model.js'
import { checkWalletChain, switchNetwork } from './network.js'
import type { PageFailure, PaywallData } from './pageData.js'
import { type PaywallModel, renderPaywall } from './paywallView.js'
import { readPageData } from './readPageData.js'
import {
  buildOfferPayment,
  describePayment,
  type PageOffer,
  readOffers,
  signOffer,
} from './signOffer.js'
import { type Connection, connect, findWallets } from './wallets.js'

const data = readPageData<PaywallData>()
const { answer, cookie } = data
const format = createFormat(data)
const offers = readOffers(data)
const ahead = data.now - Math.floor(Date.now() / 1_000)

const place = placeInPage()
const following = { model: () => model, change }

let model: PaywallModel = {
  chosen: 0,
  wallets: [],
  failure: answer.failure,
  showsDetails: false,
  canKeep: true,
  isSlow: false,
}
let shown = ''
let asking = new AbortController()
let isAgain = false

function now(): number {
  return Math.floor(Date.now() / 1_000) + ahead
}

function change(changes: Partial<PaywallModel>): void {
  model = { ...model, ...changes }
  const looks = looksOf(model)
  if (looks === shown) return
  shown = looks
  const parts = renderPaywall(model, {
    format,
    data,
    offers,
    token: offers[model.chosen]?.token,
    now: now(),
    actions: {
      choose: (wallet) => {
        run('connecting', async (signal) => {
          const connection = await connect(wallet, isAgain)
          if (signal.aborted) return
          isAgain = false
          followWallet(following, wallet)
          const chosen = await chooseOffer(connection)
          if (!signal.aborted) change({ connection, chosen })
        })
      },
      changeAccount: () => {
        isAgain = true
        change({ connection: undefined, draft: undefined, failure: undefined })
      },
      pick: (chosen) =>
        change({ chosen, draft: undefined, failure: undefined }),
      pay: () => run('checking', pay),
      stop: () => {
        asking.abort()
        asking = new AbortController()
        change({ task: undefined })
      },
      switchChain: () => {
        run('connecting', async () => {
          const { connection, offer } = current()
          await switchNetwork(connection, offer.token)
        })
      },
      toggleDetails: (showsDetails) => change({ showsDetails }),
      reload: () => location.reload(),
    },
  })
  showParts(place, parts)
}

/** Runs what the buyer asked for; one thing at a time. */
async function run(
  task: PaywallModel['task'],
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (model.task) return
  const { signal } = asking
  change({ task, failure: undefined })
  let failure: PageFailure | undefined
  try {
    await work(signal)
  } catch (error) {
    failure = error instanceof Stopped ? error.failure : explainFailure(error)
  }
  // If aborted, the buyer stopped this task and may have started another one. A
  // page that is about to be replaced keeps its text.
  if (!signal.aborted && !isLeaving) change({ task: undefined, failure })
}

/** Thrown when the page does not send a signed payment. */
class Stopped extends Error {
  readonly failure: PageFailure

  constructor(failure: PageFailure) {
    super(failure.reason)
    this.failure = failure
  }
}

let isLeaving = false

/**
 * Milliseconds until the page says that it is slow. A download does not replace
 * the page, and the page cannot detect a download.
 */
const slowAfter = 8_000

const notReceived: PageFailure = {
  reason: 'notReceived',
}

const tooLate: PageFailure = { reason: 'tooLate' }

function current(): { connection: Connection; offer: PageOffer } {
  const { connection, chosen } = model
  const offer = offers[chosen]
  if (!connection || !offer) throw new NotOpen()
  return { connection, offer }
}

/**
 * Returns the chosen offer if the wallet is on its network. Otherwise returns
 * the first offer on the wallet's network, if there is one.
 */
async function chooseOffer({ wallet }: Connection): Promise<number> {
  const { chosen } = model
  const found = Number(await wallet.provider.request({ method: 'eth_chainId' }))
  if (offers[chosen]?.token.chainId === found) return chosen
  const other = offers.findIndex(({ token }) => token.chainId === found)
  return other < 0 ? chosen : other
}

/**
 * Has the wallet sign the payment that the page shows, stores it, and loads the
 * address again. If another window of this browser has stored a payment
 * meanwhile, uses that one: nobody pays twice.
 */
async function pay(signal: AbortSignal): Promise<void> {
  const { connection, offer } = current()
  if (readKept(cookie) !== undefined) return leave()
  await checkWalletChain(connection, offer.token)
  const began = now()
  const from = connection.account
  const payment = buildOfferPayment({ ...offer, from, now: began })
  change({ draft: describePayment(payment), task: 'signing' })
  const { needsIdentifier, keepFor } = data
  const header = await signOffer({
    ...offer,
    payment,
    connection,
    needsIdentifier,
    now: began,
    signal,
  })
  signal.throwIfAborted()
  if (readKept(cookie) !== undefined) return leave()
  const left = Number(payment.message.validBefore) - now()
  if (left <= 0) throw new Stopped(tooLate)
  if (!keepPayment(cookie, header, left + keepFor))
    throw new Stopped(notReceived)
  leave()
}

/**
 * Loads the address again, now with the payment. Notes its nonce with this
 * window's place in the history, which stays when the page loads again.
 */
function leave(): void {
  isLeaving = true
  history.replaceState({ sent: nonceOfKept(readKept(cookie) ?? '') }, '')
  change({ task: 'sending' })
  setTimeout(() => change({ isSlow: true }), slowAfter)
  location.reload()
}

/**
 * Removes a payment that the shop refused. Returns true if this window has not
 * sent the stored payment yet, because another window stored it after this page
 * was requested.
 */
function isPaidElsewhere(): boolean {
  const kept = readKept(cookie)
  if (kept === undefined || answer.isLater) return false
  const nonce = nonceOfKept(kept)
  if (answer.ended !== nonce) {
    if (Object(history.state).sent !== nonce) return true
    // The shop does not receive this browser's cookies.
    model = { ...model, failure: notReceived }
  }
  dropKept(cookie)
  return false
}

function start(): void {
  if (isPaidElsewhere()) {
    leave()
    return
  }
  const { seconds, isLater } = answer
  if (seconds !== undefined)
    setTimeout(() => location.reload(), seconds * 1_000)
  if (!isLater) {
    model = { ...model, canKeep: canKeep() }
    const { signal } = new AbortController()
    findWallets((wallets) => change({ wallets }), signal)
  }
  change({})
}

const { style } = document.documentElement
style.setProperty('--accent', data.accent)
style.setProperty('--on-accent', data.onAccent)

// A page that the browser restores from its history may be out of date.
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload()
})

// Another window may have paid meanwhile.
addEventListener('visibilitychange', () => {
  const isSeen = document.visibilityState === 'visible'
  if (isSeen && !model.task && !answer.isLater && readKept(cookie)) leave()
})

start()
