import { startDevChain } from 'countersign/devchain'
import { detectPreconfirmations } from 'countersign/reads'
import { getBlockNumber } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'

const chain = await startDevChain({ blockTime: 0.2 })
afterAll(() => chain.stop())

// Nine seconds of blocks have to pass.
test('fast blocks are known by their pace where the milliseconds are missing', async () => {
  const client = chain.clients.public
  while ((await getBlockNumber(client, { cacheTime: 0 })) < 45n)
    await new Promise((done) => setTimeout(done, 500))
  const { kind, evidence } = await detectPreconfirmations(client)
  expect(kind).toBe('fastBlocks')
  expect(evidence.secondsPerBlock).toBeCloseTo(0.2, 1)
  expect(evidence.hasMilliseconds).toBe(false)
})
