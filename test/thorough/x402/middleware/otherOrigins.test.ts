import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Orders } from 'countersign/orders'
import type { Hono } from 'hono'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OpenedPage, openPage } from '../../../chain/support/openPage.js'
import type {
  PaidOnPage,
  StockClient,
} from '../../../chain/support/payX402Page.js'
import { openShop } from '../../../chain/support/shop.js'
import { chain, price, serveApp } from '../../../chain/support/x402Desk.js'
import { root } from '../../../package/installPackage.js'
import { openGuide } from '../../../package/openGuide.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-origins-'))
symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

let opened: OpenedPage
beforeAll(async () => {
  opened = await openPage('test/chain/support/payX402Page.ts')
})
afterAll(async () => {
  await opened?.close()
  rmSync(folder, { recursive: true })
})

const guide = openGuide(root, 'docs/x402.md')
for (const command of [
  'npm init -y && npm pkg set type=module',
  'npm install countersign viem hono @hono/node-server @x402/core @x402/evm @x402/fetch',
  'npm install --save-dev tsx @viem/anvil @foundry-rs/anvil-linux-amd64',
])
  guide.leave(command, 'A test of the package runs it.')
const printed = guide.take('app.ts')

type App = { createApp(orders: Orders): Promise<Hono> }

/** Serves the paid route of the guide, but for one word of it. */
async function servePrinted(word = ''): Promise<string> {
  const file = join(folder, `app${word}.ts`)
  writeFileSync(file, printed.replace(word && `'${word}'`, word && `'X-None'`))
  const { createApp }: App = await import(file)
  const { orders } = await openShop(chain)
  const app = await createApp(orders)
  return `${await serveApp((request) => app.fetch(request))}/weather`
}

/** A page buys there with the key of someone who has the money for it. */
async function buy(kind: StockClient, url: string): Promise<PaidOnPage> {
  const key = generatePrivateKey()
  await chain.mint({ to: privateKeyToAddress(key), value: price })
  expect(new URL(opened.page.url()).origin).not.toBe(new URL(url).origin)
  return opened.page.evaluate(
    `payX402(${[kind, url, key].map((text) => JSON.stringify(text)).join()})`,
  )
}

test.each<StockClient>(['fetch', 'axios'])(
  'a page of another origin pays with the stock %s client and the CORS lines of the guide',
  async (kind) => {
    const { status, body, settlement } = await buy(kind, await servePrinted())
    expect({ status, body }).toEqual({ status: 200, body: { sky: 'clear' } })
    expect(JSON.parse(atob(settlement ?? ''))).toMatchObject({ success: true })
  },
)

test.each([
  ['PAYMENT-SIGNATURE', 'Failed to fetch'],
  ['Access-Control-Expose-Headers', 'Failed to fetch'],
  ['PAYMENT-REQUIRED', 'Failed to parse payment requirements'],
])(
  'without %s in the CORS lines the page cannot pay',
  async (word, failure) => {
    await expect(buy('fetch', await servePrinted(word))).rejects.toThrow(
      failure,
    )
  },
)

test('without PAYMENT-RESPONSE in the CORS lines the page cannot read the settlement', async () => {
  const { settlement } = await buy(
    'fetch',
    await servePrinted('PAYMENT-RESPONSE'),
  )
  expect(settlement).toBeNull()
})
