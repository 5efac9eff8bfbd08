import {
  createSubscriberClient,
  type SubscriberClient,
  type SubscriberState,
} from '../../client/createSubscriberClient.js'
import { ProblemError } from '../../client/errors.js'
import { InvalidFieldError } from '../../core/errors.js'
import { wait } from '../../core/wait.js'
import type { PageWords } from '../words/types.js'
import { type Place, showParts } from './dom.js'
import { NotOpen } from './failures.js'
import { followWallet } from './followWallet.js'
import { createFormat } from './format.js'
import { looksOf } from './model.js'
import { checkWalletChain, switchNetwork } from './network.js'
import type { PageData, PageToken } from './pageData.js'
import type { PageLink } from './readPageData.js'
import { serverClock } from './serverClock.js'
import {
  explainSubscriber,
  hasEnded,
  type SubscriberModel,
  signSubscription,
  timesOf,
} from './subscriber.js'
import { renderSubscriber, type SubscriberActions } from './subscriberView.js'
import { type Connection, connect, findWallets } from './wallets.js'

type ShowSubscriberParameters = {
  data: PageData<PageWords>
  /** Missing if the id in the address is malformed. */
  link: PageLink | undefined
  place: Place
  signal: AbortSignal
}

/** Milliseconds between two looks while something is on its way, and else. */
const pauses = { soon: 3_000, usual: 15_000 }

/**
 * Shows a subscription to the person who pays it, who chooses a wallet, signs,
 * follows the charges and cancels.
 */
export function showSubscriber(parameters: ShowSubscriberParameters): void {
  const { data, link, place, signal } = parameters
  const { language, tokens, returnUrl } = data
  const format = createFormat(data)
  const { fetch, now } = serverClock()
  const subscriber = open(link, data.payments, {
    fetch,
    onRetry: () => change({ link: 'lost' }),
  })
  let model: SubscriberModel = {
    link: subscriber ? 'live' : 'notFound',
    wallets: [],
    isAsking: false,
    showsDetails: false,
  }
  let rendered = ''
  let asking = new AbortController()
  let isAgain = false
  /** Grows with each answer to an action: looks that began earlier are old. */
  let version = 0

  function change(changes: Partial<SubscriberModel>): void {
    model = { ...model, ...changes }
    const looks = looksOf(model)
    if (looks === rendered) return
    rendered = looks
    const shown = renderSubscriber(model, {
      format,
      data,
      language,
      returnUrl,
      token: tokenOf(model.subscription),
      now: now(),
      actions,
    })
    showParts(place, shown)
  }

  function tokenOf(
    subscription: SubscriberState | undefined,
  ): PageToken | undefined {
    return tokens.find(
      ({ chainId, token }) =>
        chainId === subscription?.chainId && token === subscription.token,
    )
  }

  function current(): {
    connection: Connection
    subscription: SubscriberState
    token: PageToken
    subscriber: SubscriberClient
  } {
    const { connection, subscription } = model
    const token = tokenOf(subscription)
    if (!connection || !subscription || !token || !subscriber)
      throw new NotOpen()
    return { connection, subscription, token, subscriber }
  }

  /** Runs what the buyer asked for; one thing at a time. */
  async function run(
    task: SubscriberModel['task'],
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    if (model.task) return
    const { signal } = asking
    change({ task, failure: undefined })
    let failure: SubscriberModel['failure']
    try {
      await work(signal)
    } catch (error) {
      failure = explainSubscriber(error)
      if (!failure) await look()
    }
    // Else the buyer stopped it, and may wait for something else by now.
    if (!signal.aborted) change({ task: undefined, failure })
  }

  const show = (subscription: SubscriberState): void => {
    version++
    change({ subscription, link: 'live' })
  }

  const actions: SubscriberActions = {
    choose: (wallet) => {
      run('connecting', async (signal) => {
        const connection = await connect(wallet, isAgain)
        if (signal.aborted) return
        isAgain = false
        followWallet({ model: () => model, change }, wallet)
        change({ connection })
      })
    },
    changeAccount: () => {
      isAgain = true
      change({ connection: undefined, failure: undefined })
    },
    pay: () => {
      run('checking', async (signal) => {
        const { connection, token, ...shown } = current()
        await checkWalletChain(connection, token)
        change({ task: 'signing' })
        const { subscription } = shown
        const signature = await signSubscription({
          connection,
          subscription,
          token,
          signal,
        })
        change({ task: 'sending' })
        show(await shown.subscriber.accept({ signature }))
      })
    },
    stop: () => {
      asking.abort()
      asking = new AbortController()
      change({ task: undefined })
    },
    switchChain: () => {
      run('connecting', async () => {
        const { connection, token } = current()
        await switchNetwork(connection, token)
      })
    },
    ask: (isAsking) => change({ isAsking, failure: undefined }),
    cancel: () => {
      run('canceling', async () => {
        if (!subscriber) return
        show(await subscriber.cancel())
        change({ isAsking: false })
      })
    },
    toggleDetails: (showsDetails) => change({ showsDetails }),
  }

  /** Reads the subscription. Keeps what is shown if the shop does not answer. */
  async function look(): Promise<void> {
    const began = version
    try {
      const subscription = await subscriber?.get({ signal })
      if (subscription && version === began) show(subscription)
    } catch (error) {
      const isMissing = error instanceof ProblemError && error.status === 404
      change({ link: isMissing ? 'notFound' : 'lost' })
    }
  }

  async function follow(): Promise<void> {
    let waited: number = pauses.usual
    while (!signal.aborted && model.link !== 'notFound') {
      if (waited >= pauses.usual || isMoving(model.subscription, now())) {
        await look()
        waited = 0
      }
      if (model.subscription && hasEnded(model.subscription)) return
      await wait(pauses.soon, signal)
      waited += pauses.soon
    }
  }

  change({})
  if (!subscriber) return
  findWallets((wallets) => change({ wallets }), signal)
  follow()
}

/** True while a charge or a cancellation is on its way. */
function isMoving(
  subscription: SubscriberState | undefined,
  now: number,
): boolean {
  if (!subscription) return true
  const { state, charges } = subscription
  const { next } = timesOf(subscription)
  const isDue = next !== undefined && next <= now
  const isOpen = charges.some(
    (charge) => charge.state === 'stored' || charge.state === 'capturing',
  )
  return state === 'canceling' || isDue || isOpen
}

/** Returns `undefined` if the link has no token, or no id. */
function open(
  link: PageLink | undefined,
  payments: string,
  line: {
    fetch: (request: Request) => Promise<Response>
    onRetry: () => void
  },
): SubscriberClient | undefined {
  if (!link) return undefined
  try {
    return createSubscriberClient({
      url: new URL(payments, location.href).href,
      subscriptionId: link.id,
      buyerToken: link.buyerToken,
      ...line,
    })
  } catch (error) {
    if (error instanceof InvalidFieldError) return undefined
    throw error
  }
}
