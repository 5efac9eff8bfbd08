import type { Client } from 'viem'
import {
  detectPreconfirmations,
  type Preconfirmations,
} from '../../chain/state/detectPreconfirmations.js'

type Network = Pick<Preconfirmations, 'kind' | 'pollingInterval'>

/** What the networks show between two blocks. */
export type Networks = {
  known(chainId: number): Network | undefined
  /**
   * Returns what is known, and asks the network in the background: again from
   * time to time, because a node can lose its view of the next block for a
   * while.
   */
  find(chainId: number, client: Client): Network | undefined
}

/** Milliseconds for which an answer counts, and between two tries to get one. */
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
        // The next try follows.
        () => undefined,
      )
      return asked.network
    },
  }
}
