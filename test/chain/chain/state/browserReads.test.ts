import { existsSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import { encodeFunctionData, erc20Abi, zeroAddress } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { openPage } from '../../support/openPage.js'
import { type ReadSetting, readCases } from '../../support/readCases.js'

const still = await startDevChain({ blockTime: 0 })
afterAll(() => still.stop())
const network = await startDevChain({
  preconfirmations: 'flashblocks',
  blockTime: 0.6,
  tick: 100,
})
afterAll(() => network.stop())
const opened = await openPage('test/chain/support/readPage.ts')
afterAll(opened.close)

const { payer, merchant } = still.clients
const to = merchant.account.address
for (const value of [1n, 20n, 300n]) await still.mint({ to, value })
network.setPolicies({ blockReceipts: 'forbidden' })

const setting: ReadSetting = {
  still: still.urls.http,
  network: network.urls,
  token: still.token,
  payer: payer.account.address,
  merchant: to,
  transfer: encodeFunctionData({
    abi: erc20Abi,
    functionName: 'transfer',
    args: [to, 1n],
  }),
}
const names = Object.keys(readCases)

const playHere = (name: string): unknown => readCases[name]?.(setting)

const playInPage = (name: string): Promise<unknown> =>
  opened.page.evaluate(
    ([name, setting]) =>
      (globalThis as unknown as { readCases: typeof readCases }).readCases[
        name
      ]?.(setting),
    [name, setting] as const,
  )

test.each(names)('%s is the same in Chromium as in Node', async (name) => {
  const inNode = await playHere(name)
  const inPage = await playInPage(name)

  expect(inNode).toBeDefined()
  expect(inPage).toEqual(inNode)
})

test('the cases answer what the chain holds', async () => {
  const logs = await playHere('logs')
  const batch = await playHere('batch')
  const minted = (value: bigint) => ({
    name: 'Transfer',
    from: zeroAddress,
    to: to.toLowerCase(),
    value,
  })

  // Each mint has an event of its own too, which decides no payment.
  expect(logs).toMatchObject({
    events: [1n, 20n, 300n].flatMap((value) => [undefined, minted(value)]),
    progress: expect.arrayContaining([3n, 6n]),
  })
  expect(batch).toMatchObject({ answers: { length: 100 }, requests: 1 })
})

test.each([
  ['malformed', 'InvalidFieldError'],
  ['refused', 'NodeError'],
  ['unreachable', 'NodeError'],
])('%s is a %s that keeps the path of the endpoint', async (name, error) => {
  const failure = await playInPage(name)

  expect(failure).toMatchObject({ name: error })
  expect(JSON.stringify(failure)).not.toContain('secret-key')
})

test('a forbidden read is one request and says so in a page', async () => {
  expect(await playInPage('forbidden')).toMatchObject({
    answers: { name: 'BlockReceiptsForbiddenError' },
    requests: 1,
  })
})

test('a page that watches sees a payment rise, pushed by the WebSocket', async () => {
  const event = {
    name: 'Transfer',
    from: setting.payer.toLowerCase(),
    to: setting.merchant.toLowerCase(),
    value: 1n,
  }

  expect(await playInPage('watch')).toEqual({
    seen: [
      ['preconfirmed', true, event],
      ['included', false, event],
      ['safe', false, event],
    ],
    errors: [],
  })
})

test('the page has no trace of Node and no error', async () => {
  const kinds = await opened.page.evaluate(() => [
    typeof Reflect.get(globalThis, 'process'),
    typeof Reflect.get(globalThis, 'Buffer'),
    typeof WebSocket,
  ])

  expect(kinds).toEqual(['undefined', 'undefined', 'function'])
  expect(opened.problems).toEqual([])
})

test('a page that is closed leaves no folder and no server behind', async () => {
  const { close, page, folder } = await openPage(
    'test/chain/support/readPage.ts',
  )
  const url = page.url()
  const unpacked = existsSync(folder)
  await close()

  expect([unpacked, existsSync(folder)]).toEqual([true, false])
  expect(page.isClosed()).toBe(true)
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})
