// The first time, all of this held: one worker was killed, the other ended with the
// error that its database was replaced, and a first start sent nothing.
import { postgresStore } from 'countersign/sql'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { startArchivedDatabase } from '../../chain/support/archivedDatabase.js'
import { seed, startChance } from '../../chain/support/chaos.js'
import { liveThroughLoss } from '../../chain/support/lossShop.js'
import { startSubscriptionChain } from '../../chain/support/subscriptionShop.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import { sealLikeAll } from '../../kills/openShop.js'
import type { ShopPlan } from '../../kills/plan.js'
import { type Child, startChild } from '../../kills/runChild.js'

const [chain, database, worker] = await Promise.all([
  startSubscriptionChain(0.3),
  startArchivedDatabase(),
  bundleWorker('subscriptionWorker'),
])
afterAll(async () => {
  worker.remove()
  await Promise.all([chain.stop(), database.stop()])
})

test(`after a PostgreSQL was recovered to ten minutes ago under two workers, nothing is transferred twice, every payment is found, and the books balance (seed ${seed})`, async () => {
  const key = generatePrivateKey()
  const account = privateKeyToAccount(key)
  const { address } = account
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  await chain.mint({ to: address, value: 1_000_000_000n })
  const plan: ShopPlan = {
    engine: { postgres: database.url, schema: 'countersign' },
    account: 'local',
    url: chain.urls.http,
    token: chain.token,
    keys: [key],
    policy: { lease: 1_000, fulfilAt: 'included', chainClock: 'own' },
  }
  let workers: Child[] = []
  await liveThroughLoss(chain, startChance(2_000), {
    openStore: () => postgresStore({ connectionString: database.url }),
    keep: database.mark,
    lose: database.restore,
    apart: {
      account,
      seal: sealLikeAll(),
      age: 600,
      period: 150n,
      start: async () => {
        workers = [1, 2].map(() => startChild(worker.file, plan))
        for (const child of workers) onTestFinished(() => child.kill('SIGKILL'))
      },
      loseUnder: async (lose) => {
        const [killed, living] = workers
        killed?.kill('SIGKILL')
        await lose()
        const end = await living?.ended
        expect(end?.code).toBe(1)
        expect(end?.problem).toContain(
          'The store lost its database, and another one is in its place, as after a restore: restart the process.',
        )
      },
    },
  })
})
