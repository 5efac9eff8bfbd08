import type { Address, Hash, Hex } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
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
   * Default: the newest pre-confirmed transaction; an invented hash without
   * one.
   */
  transactionHash?: Hash | undefined
}

const members: MembersOf<PhantomLogParameters> = {
  address: true,
  topics: true,
  data: true,
  transactionHash: true,
}

/** Controls of a network with Flashblocks, including its faults. */
export type PreconfirmationControls = {
  /** Pre-confirms all sent transactions now. */
  tick(): Promise<void>
  /** Seals the open block: pre-confirmed transactions become canonical. */
  seal(): Promise<void>
  /**
   * Drops a pre-confirmed transaction for good; without a hash, all of them.
   * Returns the hashes of the dropped transactions.
   */
  dropPending(hash?: Hash): Promise<Hash[]>
  /** Reverses the order of the senders in the open block. */
  reorder(): Promise<void>
  /** Removes the pending view until the next block: `pending` is `latest`. */
  loseSnapshot(): Promise<void>
  /** Freezes the pending view while the chain continues, or unfreezes it. */
  stall(on?: boolean): Promise<void>
  /** Shows a pre-confirmed log that no block will contain. */
  phantomLog(log: PhantomLogParameters): Promise<void>
  /** Sends the newest delta to subscribers again. */
  duplicateDelta(): Promise<void>
  /**
   * While on, subscribers receive no deltas. Afterwards they receive the newest
   * 20 and miss the others.
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
        checkMembers(parameters, members)
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
