import type { Address, Hash, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { seal, tick } from './advanceSequencer.js'
import { asJsonList } from './devRpc.js'
import { makePhantom, visiblePending } from './pendingView.js'
import { dropPending, reorderPending } from './reorgChain.js'
import type { Sequencer } from './sequencer.js'

/** Parameters of `phantomLog` of {@link PreconfirmationControls}. */
type PhantomLogParameters = {
  address: Address
  topics?: readonly Hex[] | undefined
  data?: Hex | undefined
  /**
   * Transaction that the log claims to come from. Default: the newest
   * pre-confirmed one, or an invented hash if there is none.
   */
  transactionHash?: Hash | undefined
}

/**
 * Controls of a network with Flashblocks. Some of them cause faults that such
 * networks have.
 */
export type PreconfirmationControls = {
  /** Pre-confirms all transactions that were sent. */
  tick(): Promise<void>
  /**
   * Finishes the block under construction, with all transactions that are
   * pre-confirmed.
   */
  seal(): Promise<void>
  /**
   * Drops a pre-confirmed transaction, or all of them if `hash` is absent. No
   * block will have them. Returns the dropped hashes.
   */
  dropPending(hash?: Hash): Promise<Hash[]>
  /** Reverses the order of the senders in the block under construction. */
  reorder(): Promise<void>
  /**
   * Until the next block, the node has no pending block and answers `pending`
   * like `latest`.
   */
  loseSnapshot(): Promise<void>
  /**
   * Freezes what clients see as `pending`, while the chain continues. `false`
   * ends this.
   */
  stall(on?: boolean): Promise<void>
  /** Shows a pre-confirmed log that no block will have. */
  phantomLog(log: PhantomLogParameters): Promise<void>
  /** Sends subscribers the newest addition a second time. */
  duplicateDelta(): Promise<void>
  /**
   * While on, subscribers get no additions. When turned off, they get the
   * newest 20; older ones are lost.
   */
  slowConsumers(on?: boolean): Promise<void>
}

export function controlPreconfirmations(
  sequencer: Sequencer,
): PreconfirmationControls {
  const { lock, feed } = sequencer
  return {
    tick: () => tick(sequencer),
    seal: () => seal(sequencer),
    dropPending: (hash) => dropPending(sequencer, hash),
    reorder: () => reorderPending(sequencer),
    loseSnapshot: () =>
      lock.exclusive(async () => {
        sequencer.view = 'lost'
      }),
    stall: (on = true) =>
      lock.exclusive(() => (on ? freeze(sequencer) : thaw(sequencer))),
    phantomLog: (parameters) =>
      lock.exclusive(async () => {
        checkMembers(parameters, [
          'address',
          'topics',
          'data',
          'transactionHash',
        ])
        const phantom = makePhantom(sequencer, parameters)
        sequencer.phantoms.push(phantom)
        const block = visiblePending(sequencer)?.block
        if (!block) return
        feed.pushDelta({ block, transactions: [], logs: [phantom.log] })
      }),
    duplicateDelta: () =>
      lock.exclusive(async () => {
        if (sequencer.lastDelta) feed.pushDelta(sequencer.lastDelta)
      }),
    slowConsumers: async (on = true) => feed.hold(on),
  }
}

async function freeze(sequencer: Sequencer): Promise<void> {
  const { node } = sequencer
  const pending = visiblePending(sequencer)
  if (!pending || typeof sequencer.view === 'object') return
  const transactions = asJsonList(pending.block.transactions)
  const touched = new Set(transactions.flatMap(({ from, to }) => [from, to]))
  const addresses = [...touched].filter((one) => typeof one === 'string')
  const balances = await node.batch(
    addresses.map((address) => ['eth_getBalance', [address, 'pending']]),
  )
  sequencer.view = {
    pending,
    balances: new Map(addresses.map((address, at) => [address, balances[at]])),
  }
}

async function thaw(sequencer: Sequencer): Promise<void> {
  if (typeof sequencer.view === 'object') sequencer.view = 'live'
}
