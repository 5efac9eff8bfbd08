import type { Client } from 'viem'
import {
  detectPreconfirmations,
  type Preconfirmations,
} from '../../chain/state/detectPreconfirmations.js'

type Network = Pick<Preconfirmations, 'kind' | 'pollingInterval'>

/** What each network shows between two blocks, such as a pending block. */
export type Networks = {
  known(chainId: number): Network | undefined
  /**
   * Returns what is known, and asks the network in the background. Asks again
   * from time to time, because a node can lose its pending block for a while.
   */
  find(chainId: number, client: Client): Network | undefined
}

/**
 * Milliseconds for which an answer is used, and between two tries to get one.
 */
const askEvery = 600_000
const tryEvery = 10_000

export function watchNetworks(): Networks {
  const known = new Map<number, { network?: Network; askAt: number }>()
  return {
    known: (chainId) => known.get(chainId)?.network,
    find: (chainId, client) => {
      const before = known.get(chainId)
      const now = performance.now()
      if (before && now < before.askAt) return before.network
      const asked = { ...before, askAt: now + tryEvery }
      known.set(chainId, asked)
      detectPreconfirmations(client).then(
        (network) => known.set(chainId, { network, askAt: now + askEvery }),
        // Ignore the failure: another try follows.
        () => undefined,
      )
      return asked.network
    },
  }
}
