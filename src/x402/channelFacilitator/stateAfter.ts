import type { Client, Hash, Hex } from 'viem'
import { type ChainChannel, getChannels } from '../../channels/engine.js'
import { CountersignError } from '../../core/CountersignError.js'
import { wait } from '../../core/wait.js'
import {
  pending,
  type RefusedCall,
  type ServedCall,
  type ShownState,
  showChain,
} from './context.js'
import type { MadeMovement } from './sendMovement.js'

/** A settlement, with the state of the channel after it. */
export type ChannelSettled = {
  ok: true
  hash?: Hash | undefined
  words?: undefined
  /** Base units that moved. */
  value?: bigint | undefined
  state?: ShownState | undefined
}

/** Milliseconds between two questions to a node that lags behind. */
const askEvery = 250

/**
 * Reads the channel after its transaction. If the node does not show it, asks
 * the server to call again: without the state it would refuse all vouchers.
 */
export async function stateAfter(
  call: Pick<ServedCall, 'client' | 'until'>,
  channelId: Hex,
  { transactionHash: hash, blockNumber, value }: MadeMovement,
): Promise<ChannelSettled | RefusedCall> {
  const channelIds = [channelId]
  const [state] = (await readAfter(call, { channelIds, blockNumber })) ?? []
  return state
    ? { ok: true, hash, value, state: showChain(channelId, state) }
    : pending(hash)
}

/**
 * Reads the newest state of channels. Waits until the node has a block;
 * `undefined` if it does not have it in time, or does not answer.
 */
export async function readAfter(
  { client, until }: Pick<ServedCall, 'client' | 'until'>,
  wanted: { channelIds: readonly Hex[]; blockNumber: bigint },
): Promise<readonly ChainChannel[] | undefined> {
  for (;;) {
    const states = await readOnce(client, wanted)
    if (states || performance.now() >= until) return states
    await wait(askEvery)
  }
}

async function readOnce(
  client: Client,
  {
    channelIds,
    blockNumber,
  }: { channelIds: readonly Hex[]; blockNumber: bigint },
): Promise<readonly ChainChannel[] | undefined> {
  try {
    const newest = await getChannels(client, { channelIds })
    const isNew = newest.every(({ at }) => at.blockNumber >= blockNumber)
    if (isNew) return newest
    // On Arbitrum, contracts see other block numbers.
    return await getChannels(client, { channelIds, blockNumber })
  } catch (error) {
    if (error instanceof CountersignError) return undefined
    throw error
  }
}
