import { copyFileSync, rmSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { openCliShop, openServer } from '../support/cliShop.js'
import { fundedAccount } from '../support/desk.js'
import { pay } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0.2 })
afterAll(() => chain.stop())
const buyer = await fundedAccount(chain, 10n ** 12n)

test('recover says what the chain shows of a database that was replaced, and resumes', async () => {
  const shop = await openCliShop(chain)
  const { file, folder } = shop
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const early = await shop.run(['recover'])
  expect(early.code).toBe(1)
  const before = openServer(shop)
  const sell = async (orderId: string) => {
    const { payment } = await before.draft({ orderId, amount: '12.50' })
    const paid = await pay(buyer, payment)
    expect(await before.accept({ orderId, payment: paid })).toMatchObject({
      ok: true,
    })
  }
  await sell('kept')
  await before.close()
  expect((await shop.run(['recover'])).stdout).toMatch(
    /The shop was not suspended\.\n$/,
  )
  copyFileSync(file, `${file}.backup`)
  const served = openServer(shop)
  const stop = new AbortController()
  const running = served.run({ signal: stop.signal })
  const sellNow = async (orderId: string) => {
    const { payment } = await served.draft({ orderId, amount: '12.50' })
    await served.accept({ orderId, payment: await pay(buyer, payment) })
  }
  await sellNow('lost')
  for (const orderId of ['kept', 'lost'])
    expect(await served.capture({ orderId })).toMatchObject({
      status: 'captured',
    })
  stop.abort()
  await running
  await served.close()

  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
  copyFileSync(`${file}.backup`, file)
  const after = openServer(shop)
  onTestFinished(() => after.close())
  expect(await after.health()).toMatchObject({ suspended: true })
  const ran = await shop.run(['recover'])
  expect(ran.stderr).toBe('')
  expect(ran.stdout).toContain(
    'paid on the chain: the database has the order\n    kept\n',
  )
  expect(ran.stdout).toMatch(
    /1 payment paid to you, and no order on record: its order may be lost\n {4}0x[\da-f]{64}\n/,
  )
  expect(ran.stdout).toMatch(/Resumed: workers send again\.\n$/)
  expect(ran.code).toBe(0)
  expect(await after.health()).toMatchObject({ suspended: false })
  // What the merchant stopped, the merchant lets go on.
  await shop.run(['suspend'])
  const json = await shop.run(['recover', '--json'])
  expect(json.code).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: true,
    suspended: 'merchant',
    resumed: false,
  })
  expect((await shop.run(['recover'])).stdout).toMatch(
    /agree\.\nYou suspended the shop: countersign resume lets workers send again\.\n$/,
  )
  expect(await after.health()).toMatchObject({ suspended: true })
})
