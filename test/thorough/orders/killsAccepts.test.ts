import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { startDatabase } from '../../chain/support/database.js'
import { bundleWorker } from '../../kills/bundleWorker.js'
import type { Told } from '../../kills/plan.js'
import { startChild } from '../../kills/runChild.js'
import { type KillCase, withEngine } from '../../kills/runKill.js'
import { setStage } from '../../kills/stage.js'

const [chain, database, worker] = await Promise.all([
  startDevChain({ blockTime: 0 }),
  startDatabase(),
  bundleWorker('worker'),
])
afterAll(async () => {
  worker.remove()
  await Promise.all([chain.stop(), database.stop()])
})

const engines = [
  ['a file', async () => 'sqlite'],
  [
    'a server',
    async () => ({
      postgres: await database.create('accepts'),
      schema: 'shop',
    }),
  ],
] as const satisfies readonly (readonly [
  string,
  () => Promise<KillCase['engine']>,
])[]

test.each(engines)(
  'four processes on %s store no more of a payer than the balance carries',
  async (_, makeEngine) => {
    await withEngine(await makeEngine(), async (engine) => {
      const { plan } = await setStage(chain, {
        engine,
        account: 'local',
        lease: 1000,
        flow: 'accept',
        orders: 50,
        // 1.25 each: enough for 17, and not for 18.
        balance: 22_000_000n,
      })
      const ended = await Promise.all(
        [0, 1, 2, 3].map((part) => {
          const isMine = (_: unknown, index: number) => index % 4 === part
          return startChild(worker.file, {
            ...plan,
            orderIds: plan.orderIds.filter(isMine),
            payments: plan.payments.filter(isMine),
          }).ended
        }),
      )
      expect(ended.map(({ problem }) => problem)).toEqual(['', '', '', ''])
      const results = ended
        .map(({ lines }): Told => JSON.parse(lines.at(-1) ?? ''))
        .flatMap(({ results }) => results)
      expect(countEach(results)).toEqual({ ok: 17, exposureTooHigh: 33 })
    })
  },
)

function countEach(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1
  return counts
}
