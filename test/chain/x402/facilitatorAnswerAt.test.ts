import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { bodyOf, openFacilitator } from '../support/facilitatorShop.js'

/** Blocks and pre-confirmations only on demand. */
const chain = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0,
  tick: 0,
})
afterAll(() => chain.stop())

const { tick, seal } = chain.preconfirmations

/** Settles a payment whose requirements say so, while blocks come on demand. */
async function settle(
  extra: Record<string, unknown>,
  caller: { mostAtRisk?: string } = {},
): Promise<{ success: boolean; isBeforeBlock: boolean }> {
  const shop = await openFacilitator(chain, {
    facilitator: { answerAt: 'preconfirmed', preconfirmedUpTo: '12.5' },
    orders: { policy: { mostAtRisk: { total: '100' } } },
    callers: { one: { name: 'one', ...caller } },
  })
  const sent = bodyOf(await shop.pay())
  const requirements = Object(sent).paymentRequirements
  Object.assign(requirements.extra, extra)
  let isAnswered = false
  const settling = shop.ask('settle', sent).then((response) => response.json())
  settling.finally(() => {
    isAnswered = true
  })
  const isShown = async () =>
    (await shop.orders.list()).orders[0]?.preconfirmed !== undefined
  const step = async (work: () => Promise<void>) => {
    await work()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  while (!(isAnswered || (await isShown()))) await step(tick)
  // It has been shown: a few looks more decide whether it is answered.
  for (let looks = 0; looks < 20 && !isAnswered; looks++) await step(tick)
  const isBeforeBlock = isAnswered
  while (!isAnswered) {
    await tick()
    await step(seal)
  }
  const { success } = await settling
  await shop.orders.close()
  return { success, isBeforeBlock }
}

test('a settlement succeeds before a block where its requirements allow it', async () => {
  expect(await settle({ answerAt: 'preconfirmed' })).toEqual({
    success: true,
    isBeforeBlock: true,
  })
})

test.each([
  ['the requirements do not allow it', {}, {}],
  [
    'the caller has no room',
    { answerAt: 'preconfirmed' },
    { mostAtRisk: '12.4' },
  ],
])('a settlement waits for a block where %s', async (_, extra, caller) => {
  expect(await settle(extra, caller)).toEqual({
    success: true,
    isBeforeBlock: false,
  })
})
