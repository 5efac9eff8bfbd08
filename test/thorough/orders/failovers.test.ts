import { postgresStore } from 'countersign/sql'
import { afterAll, onTestFinished, test } from 'vitest'
import { isFull, seed, startChance } from '../../chain/support/chaos.js'
import { startPair } from '../../chain/support/databasePair.js'
import { liveThroughLoss } from '../../chain/support/lossShop.js'
import { startSubscriptionChain } from '../../chain/support/subscriptionShop.js'

const chain = await startSubscriptionChain(0.3)
afterAll(() => chain.stop())

const worlds = isFull ? 10 : 1

for (let world = 0; world < worlds; world++)
  test(`after a failover that loses the last commits two workers charge, capture and refund nothing twice (seed ${seed}, world ${world})`, async () => {
    const pair = await startPair({ synchronous: false })
    onTestFinished(() => pair.stop())
    await liveThroughLoss(chain, startChance(1_000 + world), {
      openStore: () => postgresStore({ connectionString: pair.url }),
      keep: pair.detach,
      lose: pair.failOver,
    })
  })
