import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { startKilledShops } from '../../durable/startKilledShops.js'
import { runInSlots } from '../../kills/startKills.js'

const chain = await startDevChain({ blockTime: 0.2 })
const shops = await Promise.all([
  startKilledShops(chain),
  startKilledShops(chain),
])
afterAll(async () => {
  await Promise.all(shops.map((shop) => shop.stop()))
  await chain.stop()
})

test('killed anywhere in a sale, a Durable Object loses nothing that was confirmed, and sends nothing twice', async () => {
  const cases = (await shops[0]?.record()) ?? []
  const kinds = new Set(cases.map(({ step, stop }) => `${step} ${stop.point}`))
  expect([...kinds]).toContain('capture sent')
  const ended = await runInSlots(shops, cases, (shop, one) => shop.kill(one))
  expect(ended.flatMap(({ problems }) => problems)).toEqual([])
  const missed = ended.filter((one) => one.missed).length
  expect(missed).toBeLessThan(cases.length / 4)
}, 900_000)

test('a write confirmed while an earlier read is open is there after a kill', async () => {
  expect(await shops[0]?.killInRead()).toEqual({ isThere: true })
}, 300_000)
