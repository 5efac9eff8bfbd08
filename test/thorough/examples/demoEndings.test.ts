import { expect, test } from 'vitest'
import { drawProgress as drawCaptures } from '../../../examples/demo/format.js'
import { findProblem, type LoadRun } from '../../../examples/demo/load.js'
import { createNarrator } from '../../../examples/demo/narrator.js'
import { playStory } from '../../../examples/demo/playStory.js'
import type { Story } from '../../../examples/demo/types.js'
import { chain, shop } from '../../chain/support/runExample.js'

test('captures are shown on one line that grows, sent being half of the way', () => {
  const draw = (sent: number, captured: number) =>
    drawCaptures({ sent, captured, total: 60 }, true)

  expect([draw(0, 0), draw(60, 0), draw(60, 60)]).toEqual([
    `\r   ${'░'.repeat(30)}   0 %  sent:  0  captured:  0`,
    `\r   ${'█'.repeat(15)}${'░'.repeat(15)}  50 %  sent: 60  captured:  0`,
    `\r   ${'█'.repeat(30)} 100 %  sent: 60  captured: 60\n`,
  ])
})

const load: Parameters<typeof findProblem>[0] = {
  amount: '1',
  count: 2,
  captured: 2,
  balances: {
    before: { payers: 5_000_000n, merchant: 7n },
    after: { payers: 3_000_000n, merchant: 2_000_007n },
  },
  audit: {
    chain: { count: 2, value: 2_000_000n },
    captured: { count: 2, value: 2_000_000n },
    differences: [],
  },
}
const [hash, differing] = [`0x${'1'.repeat(64)}`, 2_000_001n] as const
test.each<[string, Partial<LoadRun>, string | undefined]>([
  ['as told', {}, undefined],
  ['with one too few', { captured: 1 }, '1 of 2 were captured'],
  [
    'with a unit too much at the payers',
    {
      balances: {
        ...load.balances,
        before: { payers: 5_000_001n, merchant: 7n },
      },
    },
    '2.000001 moved instead of 2',
  ],
  [
    'with a unit too much at the merchant',
    {
      balances: {
        ...load.balances,
        before: { payers: 5_000_000n, merchant: 6n },
      },
    },
    '2.000001 moved instead of 2',
  ],
  [
    'with a unit too much on chain',
    { audit: { ...load.audit, chain: { count: 2, value: differing } } },
    '2.000001 moved instead of 2',
  ],
  [
    'with a unit too much on record',
    { audit: { ...load.audit, captured: { count: 2, value: differing } } },
    '2.000001 moved instead of 2',
  ],
  [
    'with a difference',
    {
      audit: {
        ...load.audit,
        differences: [
          {
            transactionHash: hash,
            logIndex: 0,
            blockNumber: 1n,
            orderId: undefined,
            onChain: 1n,
            onRecord: undefined,
          },
        ],
      },
    },
    'chain and record differ in 1 places',
  ],
])('a load that ends %s is judged so', (_, part, problem) => {
  expect(findProblem({ ...load, ...part })).toBe(problem)
})

const still: Story = {
  id: 'still',
  title: 'Nothing happens',
  ends: { chain: 'unused', order: 'drafted' },
  play: async () => {
    const { order } = await shop.orders.draft({ amount: '1' })
    return { outcome: { status: 'unused' }, order }
  },
}
test.each<[string, Partial<Story>, string | undefined]>([
  ['as told', {}, undefined],
  [
    'with another outcome',
    { ends: { chain: 'expired', order: 'drafted' } },
    'unused on chain, drafted on record instead of expired on chain, drafted on record',
  ],
  [
    'with another record',
    { ends: { chain: 'unused', order: 'voided' } },
    'unused on chain, drafted on record instead of unused on chain, voided on record',
  ],
  [
    'with one unit too few',
    { moves: () => ({ merchant: 1n }) },
    'the balances are not as told',
  ],
])('a story that ends %s is judged so', async (_, part, problem) => {
  const story = { ...still, ...part }
  const told = { amount: '1', start: 0n, onStep: () => undefined }
  const played = await playStory(chain, { story, shop, ...told })
  expect(played.problem).toBe(problem)
  expect(played.asTold).toBe(problem === undefined)
})

test('the timeline is coloured only when asked', () => {
  const write = (colours: boolean): string => {
    const lines: string[] = []
    createNarrator({ print: (line) => lines.push(line), colours }).begin(still)
    return lines.join('\n')
  }
  expect(write(true)).toContain('\x1b[1m1. Nothing happens\x1b[0m')
  expect(write(false)).not.toContain('\x1b')
})
