import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { seed } from '../../support/chaos.js'
import { runUnseen } from '../../support/unseenRun.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 100 })
afterAll(() => chain.stop())

test(`20 schedules of reorganizations between a submitter's write and the looks leave the record as the chain is, seed ${seed}`, async () => {
  expect(await runUnseen(chain, { count: 20, seed })).toEqual([])
})
