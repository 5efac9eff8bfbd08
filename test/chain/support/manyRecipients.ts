import type { DevChain } from 'countersign/devchain'
import type { Account, Address } from 'viem'
import type { Observation } from '../../../src/core/observeFailure.js'
import type { OrdersContext } from '../../../src/orders/context/types.js'
import { createContext } from '../../../src/orders/createContext.js'
import type { OrdersPolicy } from '../../../src/orders/model/types.js'
import {
  type RunWorkerParameters,
  runWorker,
} from '../../../src/orders/runWorker.js'
import { createSubmitterEngine } from '../../../src/orders/submitter/submitterEngine.js'
import { memoryStore } from '../../../src/store/memoryStore.js'
import type { PaymentStore } from '../../../src/store/types.js'
import { draft, type fakeNode } from './desk.js'
import { storeOrder } from './orderRows.js'

type Node = ReturnType<typeof fakeNode>

/** Orders of several wallets that one worker works for. */
export type ManyWallets = {
  chain: DevChain
  context: OrdersContext
  seen: Observation[]
  /** Puts an order of one wallet on record that is due now. */
  addDue(account: Account): Promise<string>
  stateOf(id: string): Promise<string | undefined>
  /** Runs a worker until the work is done, and then stops it. */
  runDuring(
    work: () => Promise<unknown>,
    options?: Omit<RunWorkerParameters, 'signal'>,
  ): Promise<void>
}

/** One instance with many wallets; `nodes` stand between each and its chain. */
export function openMany(
  chain: DevChain,
  {
    reader,
    wallets,
    policy,
    recipients,
    store = memoryStore(),
  }: {
    reader: Node
    wallets: readonly Node[]
    policy?: OrdersPolicy | undefined
    recipients?: readonly Address[] | undefined
    store?: PaymentStore | undefined
  },
): ManyWallets {
  const seen: Observation[] = []
  const context = createContext({
    store,
    seal: 'none',
    tokens: [{ client: reader.client, token: chain.token }],
    wallets: wallets.map(({ client }) => client),
    recipients,
    policy: { pollingInterval: 20, ...policy },
    observe: (one) => {
      seen.push(one)
    },
  })
  return {
    chain,
    context,
    seen,
    addDue: async ({ address }) => {
      const payment = await draft(chain, { to: address, amount: '1' })
      return storeOrder({ context, chain }, payment, {
        submitter: address.toLowerCase() as Address,
        requested: 'capture',
        sendDue: 0n,
      })
    },
    stateOf: async (id) => {
      const [order] = await store.read(({ orders }) =>
        orders.find({ ids: [id] }),
      )
      return order?.state
    },
    runDuring: async (work, options) => {
      const stop = new AbortController()
      const engine = createSubmitterEngine(context)
      const running = runWorker(context, engine, {
        ...options,
        signal: stop.signal,
      })
      try {
        await work()
      } finally {
        stop.abort()
        await running
        await engine.stop()
      }
    },
  }
}
