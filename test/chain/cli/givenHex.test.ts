import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDevChain } from 'countersign/devchain'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type CliShop, openCliShop, openServer } from '../support/cliShop.js'
import { fundedAccount } from '../support/desk.js'
import { pay } from '../support/shop.js'

const digits = 'Ab1'.repeat(21).concat('c')
/** The id that the merchant's client draws has 32 bytes of hex too. */
const orderId = '5e'.repeat(32)

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop
let hash: Hex

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain)
  const orders = openServer(shop)
  const buyer = await fundedAccount(chain, 100_000_000n)
  const { payment } = await orders.draft({ orderId, amount: '12.50' })
  await orders.accept({ orderId, payment: await pay(buyer, payment) })
  const result = await orders.capture({ orderId, timeout: 60_000 })
  if (result.status !== 'captured') throw new Error(result.status)
  hash = result.proof.transactionHash
  await orders.close()
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

describe.each([digits, `0x${digits}`])('a key given as %s', (key) => {
  test.each([
    [['events', '--order', key]],
    [['events', '--json', `--order=${key}`]],
    [['inspect', key]],
    [['inspect', '--json', key]],
    [['explain', key]],
    [['explain', '--url', `http://127.0.0.1:1/${key}`]],
    [['audit', '--from', key]],
    [['ledger', '--csv', '--to', key]],
    [['health', '--config', key]],
    [['doctor', '--send', '--token', key]],
    [['doctor', '--send', '--recipient', key]],
    [['init', key]],
    [[key, 'events']],
  ])('is not printed back by %j, whole or cut off', async (args) => {
    const { stdout, stderr } = await shop.run(args)
    const printed = (stdout + stderr).toLowerCase()
    expect(printed).not.toContain(digits.toLowerCase().slice(0, 8))
  })
})

test('the id of an order and the hash of its capture are printed, because the record has them', async () => {
  const events = await shop.run(['events', '--order', orderId])
  expect(events.stdout.split(orderId).length).toBeGreaterThan(4)
  const inspected = await shop.run(['inspect', orderId])
  expect(inspected.stdout).toContain(`order ${orderId}: captured`)
  const found = await shop.run(['inspect', hash])
  expect(found.stdout).toContain(`transactionHash=${hash}`)
})

test('explain prints the hash of the receipt that it read from a file of that name', async () => {
  const receipt = await chain.clients.public.request({
    method: 'eth_getTransactionReceipt',
    params: [hash],
  })
  mkdirSync(join(shop.folder, 'receipts'))
  const file = `receipts/${hash}.json`
  writeFileSync(join(shop.folder, file), JSON.stringify(receipt))
  const { code, stdout } = await shop.run(['explain', file])
  expect(code).toBe(0)
  expect(stdout).toContain(`transaction ${hash} in block`)
})

test('times of events are dates, and a known token has its symbol', async () => {
  const isoDate = /validBefore=\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/
  const { stdout } = await shop.run(['events'])
  expect(stdout).toMatch(isoDate)
  const inspected = await shop.run(['inspect', orderId])
  expect(inspected.stdout).toMatch(isoDate)
  expect(inspected.stdout).not.toMatch(/validBefore=\d+(\s|$)/)
  const named = `token ${chain.token.toLowerCase()} (USDC) on chain 31337`
  expect(inspected.stdout).toContain(named)
  expect((await shop.run(['health'])).stdout).toContain(named)
  for (const command of ['ledger', 'audit']) {
    const { stdout: books } = await shop.run([command])
    expect(books).toMatch(/ USDC\b/)
    expect(books).not.toContain(chain.token.toLowerCase())
  }
  const json = await shop.run(['events', '--json'])
  expect(json.stdout).toMatch(/"validBefore":"\d+"/)
})
