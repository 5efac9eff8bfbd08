import type { BuyerState } from '../../client/BuyerClient.js'
import { cancel, sendCancellation } from './cancel.js'
import { explainFailure, NotOpen } from './failures.js'
import { followWallet } from './followWallet.js'
import { type Model, tokenOf } from './model.js'
import { switchNetwork } from './network.js'
import type { OpenedBuyer } from './openBuyer.js'
import type { PageToken } from './pageData.js'
import type { Actions } from './parts.js'
import { pay } from './pay.js'
import type { Reporter } from './reportEvents.js'
import type { Screen } from './screen.js'
import { attemptKey, keepSentEnd } from './sentEnd.js'
import { type Connection, connect } from './wallets.js'
import { failureText } from './words.js'

type CreateActionsParameters = {
  screen: Screen
  orderId: string
  opened: OpenedBuyer
  tokens: readonly PageToken[]
  report: Reporter
  /** Shows the order of an answer. */
  showOrder: (order: BuyerState) => void
  print: (() => void) | undefined
  /** Aborts when the order is no longer shown. */
  signal: AbortSignal
}

/** Creates the buyer's actions. Only one runs at a time. */
export function createActions(parameters: CreateActionsParameters): Actions {
  const { screen, opened, tokens, report, print } = parameters
  const { change } = screen
  let asking = new AbortController()
  /** True if the wallet should offer other accounts. */
  let isAgain = false
  parameters.signal.addEventListener('abort', () => {
    // A payment that is already signed still goes to the shop.
    if (screen.model().task !== 'sending') asking.abort()
  })

  const run = async (
    task: Model['task'],
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> => {
    if (screen.model().task) return
    const { signal } = asking
    change({ task, failure: undefined })
    let failure: Model['failure']
    try {
      await work(signal)
    } catch (error) {
      // The page says already that the order is not open any more.
      const isUnchanged =
        error instanceof NotOpen && screen.model().order?.state !== 'drafted'
      failure = isUnchanged ? undefined : explainFailure(error)
    }
    // Else the buyer stopped it, and may wait for something else by now.
    if (signal.aborted) return
    change({ task: undefined, failure, isUnneeded: false })
    if (failure)
      report.fail(
        failure.reason,
        failureText(failure, screen.model().order, screen.words()),
      )
  }

  /** Shows an answer, unless the order has left that state in the meantime. */
  const showOrder = (order: BuyerState, from: BuyerState['state']): void => {
    if (screen.model().order?.state === from) parameters.showOrder(order)
  }

  const current = (): {
    connection: Connection
    order: BuyerState
    token: PageToken
  } => {
    const { connection, order } = screen.model()
    const token = tokenOf(screen.model(), tokens)
    if (!connection || !order || !token) throw new NotOpen()
    return { connection, order, token }
  }

  const actions: Actions = {
    choose: (wallet) => {
      const isToCancel = screen.model().isChoosing
      run('connecting', async (signal) => {
        const connection = await connect(wallet, isAgain)
        if (signal.aborted) return
        isAgain = false
        followWallet(screen, wallet)
        change({ connection, isChoosing: false })
      }).then(() => {
        if (isToCancel && screen.model().connection) actions.cancel()
      })
    },
    changeAccount: () => {
      isAgain = true
      change({
        connection: undefined,
        failure: undefined,
        isChoosing: screen.model().order?.state !== 'drafted',
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
            if (task === 'sending') report.signed()
            if (!signal.aborted) change({ task })
          },
          isOpen: () => screen.model().order?.state === 'drafted',
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
      if (!screen.model().connection) {
        change({ isChoosing: true })
        return
      }
      run('canceling', async (signal) => {
        const { connection, order, token } = current()
        const { buyer } = opened
        const taken = await cancel({
          buyer,
          shown: order,
          connection,
          token,
          signal,
        })
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
        const { connection, order, token } = current()
        const { call } = screen.model()
        if (!call) return
        await sendCancellation(connection, token, call)
        const sentEnd = attemptKey(order)
        keepSentEnd(parameters.orderId, sentEnd)
        change({ sentEnd })
      })
    },
    toggleDetails: (showsDetails) => change({ showsDetails }),
    print,
  }
  return actions
}
