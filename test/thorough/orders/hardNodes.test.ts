import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { isFull, seed, startChance } from '../../chain/support/chaos.js'
import { untilOver } from '../../chain/support/faultRun.js'
import { openFaultShop } from '../../chain/support/faultShop.js'
import {
  findAllProblems,
  standOf,
  startHardNode,
} from '../../chain/support/hardTimes.js'
import { startLiveChain } from '../../chain/support/liveChain.js'
import { eventually } from '../../unit/support/webhooksRun.js'

const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
const other = await startLiveChain()
const restored = await startDevChain({ blockTime: 0 })
// Time goes on whatever happens, and with it what is safe and final.
const clock = setInterval(() => {
  chain.warp(3).catch(() => undefined)
  other.clients.test.mine({ blocks: 1 }).catch(() => undefined)
}, 100)
afterAll(async () => {
  clearInterval(clock)
  await Promise.all([chain, other, restored].map((one) => one.stop()))
})

const schedules = isFull ? 100 : 3

/** Looks within which all is over once the node is right again. */
const mostLooks = 1_500

test(`a node that becomes one of another chain for hours costs no payment and is named (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = startChance(1)
  // On the other chain, all windows are over.
  await other.clients.test.increaseTime({ seconds: 7_200 })
  await other.clients.test.mine({ blocks: 300 })
  const runs = Array.from({ length: schedules }, async (_, schedule) => {
    const node = startHardNode(chain)
    const words = new Set<unknown>()
    // An account may be busier there.
    const isBusy = random() < 0.5
    const stand = standOf(other)
    node.standAt(1 + random() * 400, 20 + random() * 60, (asked, forward) =>
      isBusy && asked.method === 'eth_getTransactionCount'
        ? Promise.resolve('0x1388')
        : stand(asked, forward),
    )
    const shop = await openFaultShop(chain, node.connect, {
      sellsHonestly: true,
      observe: ({ attributes }) => words.add(attributes.words),
    })
    await node.restored
    await untilOver(shop, node, node.looks() + mostLooks)
    await shop.stop()
    expect([schedule, await findAllProblems(chain, shop)]).toEqual([
      schedule,
      [],
    ])
    expect([...words]).toContain(
      'The answer to eth_chainId is 8453, and not 31337: check the URL of the node.',
    )
  })
  await Promise.all(runs)
})

test(`a node that is restored to an old state, and catches up later, costs no payment (seed ${seed})`, {
  timeout: 600_000,
}, async () => {
  const random = startChance(2)
  for (let schedule = 0; schedule < schedules; schedule++) {
    const node = startHardNode(chain)
    const state = await chain.clients.test.dumpState()
    await restored.clients.test.loadState({ state })
    const grows = schedule % 2 === 1
    const shop = await openFaultShop(chain, node.connect, {
      sellsHonestly: true,
    })
    await eventually(node.looks).toBeGreaterThan(random() * 60)
    node.standAt(1 + random() * 50, 20 + random() * 60, standOf(restored))
    const growing = setInterval(
      () => grows && restored.warp(3).catch(() => undefined),
      100,
    )
    await node.restored
    clearInterval(growing)
    await untilOver(shop, node, node.looks() + mostLooks)
    await shop.stop()
    expect([schedule, await findAllProblems(chain, shop)]).toEqual([
      schedule,
      [],
    ])
  }
})
