import type { DevChain } from 'countersign/devchain'
import { type Client, createClient, custom } from 'viem'

type Held = 'question' | 'answer'

/** A node that holds one verification, before or after the chain answers it. */
export type HeldNode = {
  client: Client
  /** Holds the next call. `arrived` ends once it is held. */
  hold(which: Held): { arrived: Promise<void> }
  release(): void
}

export function holdNode(chain: DevChain): HeldNode {
  let held: Held | undefined
  let arrive = () => {}
  let release = () => {}
  let released: Promise<void> = Promise.resolve()
  const request = async (asked: { method: string }) => {
    const ask = () => chain.clients.public.request(asked as never)
    if (held === undefined || asked.method !== 'eth_call') return ask()
    const which = held
    held = undefined
    const answer = which === 'answer' ? await ask() : undefined
    arrive()
    await released
    return answer ?? ask()
  }
  const transport = custom({ request })
  return {
    client: createClient({ chain: chain.chain, transport }),
    hold: (which) => {
      held = which
      released = new Promise((resolve) => {
        release = resolve
      })
      const arrived = new Promise<void>((resolve) => {
        arrive = resolve
      })
      return { arrived }
    },
    release: () => release(),
  }
}
