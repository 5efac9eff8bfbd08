import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { isFull, seed } from '../../../chain/support/chaos.js'
import { runUnseen } from '../../../chain/support/unseenRun.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 100 })
afterAll(() => chain.stop())

const count = isFull ? 2_000 : 500

test(`${count} schedules of reorganizations between a submitter's write and the looks leave the record as the chain is, seed ${seed}`, {
  timeout: isFull ? 3_600_000 : 900_000,
}, async () => {
  expect(await runUnseen(chain, { count, seed })).toEqual([])
})
