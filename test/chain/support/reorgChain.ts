import { type DevChain, startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll } from 'vitest'

/** The chain of one test file: it starts with the file and stops after it. */
export let chain: DevChain

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0, epochBlocks: 50 })
})
afterAll(() => chain.stop())

export const policy = { fulfilAt: 'included' } as const
