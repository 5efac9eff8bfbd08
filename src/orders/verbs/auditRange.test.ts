import { createClient, custom } from 'viem'
import { expect, test } from 'vitest'
import { memoryStore } from '../../store/memoryStore.js'
import { auditRange } from './auditRange.js'

const destination = {
  chainId: 31337,
  token: `0x${'70'.repeat(20)}`,
  recipient: `0x${'5e'.repeat(20)}`,
} as const

test('an audit decodes the logs of a range in one turn, and compares them in another', async () => {
  const steps: string[] = []
  const client = createClient({
    transport: custom({
      request: async ({ method }) => {
        steps.push(method)
        return []
      },
    }),
  })
  const turn = async () => {
    steps.push('turn')
  }
  const context = { store: memoryStore() }
  const tally = await auditRange(
    context,
    { client, destination, turn },
    { fromBlock: 1n, toBlock: 9n, recorded: [] },
  )
  expect(tally.chain).toEqual({ count: 0, value: 0n })
  const reads = steps.filter((step) => step !== 'eth_getBlockByNumber')
  expect(reads).toEqual(['eth_getLogs', 'eth_getLogs', 'turn', 'turn'])
})
