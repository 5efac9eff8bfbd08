import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { type Address, createClient, erc20Abi, http } from 'viem'
import { readContract } from 'viem/actions'
import { expect, test } from 'vitest'
import { launch } from '../../chain/support/openPage.js'
import { root } from '../../package/installPackage.js'
import { openGuide } from '../../package/openGuide.js'
import { openPlace, type Place } from '../../package/openPlace.js'

// With the packed package: run `npm run build` first.

const usdc: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const merchant: Address = '0x1563915e194D8CfBA1943570603F7606A3115508'

test('all that both quick starts print works in the order printed, from an empty folder to a page that pays, served by the backend and by Vite', async ({
  onTestFinished,
}) => {
  const backend = openGuide(root, 'docs/quickstart-backend.md')
  const dapp = openGuide(root, 'docs/quickstart-dapp.md')
  const place = await openPlace()
  onTestFinished(() => place.stop())
  const other = await openPlace()
  onTestFinished(() => other.stop())

  await other.run(backend, 'npx countersign init my-shop')
  for (const command of [
    'mkdir -p my-shop/public && cd my-shop && npm init -y && npm pkg set type=module',
    'npm install countersign viem kysely libsql zod hono @hono/node-server',
    'npm install --save-dev typescript @types/node tsx esbuild @viem/anvil @foundry-rs/anvil-linux-amd64',
  ])
    await place.run(backend, command)
  // Printed before the files that it checks.
  const checkTypes = backend.take('npx tsc')
  place.writeFile('tsconfig.json', backend.take('json'))
  place.write(backend, 'secrets.ts', 'chain.ts')
  await place.start(backend, 'npx tsx chain.ts', /^chain 31337 at /)

  place.write(backend, 'countersign.config.ts', 'orders.ts')
  // The guide says: once the server has created the database.
  const health = backend.take(
    'NODE_OPTIONS="--import tsx" npx countersign health',
  )
  place.write(backend, 'server.ts')
  await place.start(backend, 'npx tsx server.ts', /^shop at /)
  expect(await place.runCommand(health)).toContain('31337')

  place.write(backend, 'merchant.ts', 'order.ts')
  const first = await place.run(backend, 'npx tsx order.ts order-1')
  expect(first).toMatch(/^order-1 \S+\n$/)
  place.write(backend, 'buy.ts')
  const buyFirst = 'npx tsx buy.ts order-1 <token>'
  expect(await place.run(backend, buyFirst, tokenIn(first))).toBe('stored\n')
  expect(await balanceOf(place, merchant)).toBe(0n)

  place.write(backend, 'capture.ts')
  const captured = await place.run(backend, 'npx tsx capture.ts order-1')
  expect(captured).toMatch(/^captured 0x[\da-f]{64}\n$/)
  expect(await place.runCommand('npx tsx capture.ts order-1')).toBe(captured)
  expect(await balanceOf(place, merchant)).toBe(12_500_000n)
  place.write(backend, 'ship.ts')
  const shipped = await place.run(backend, 'npx tsx ship.ts')
  const [, hash] = captured.trim().split(' ')
  expect(shipped.split('\n')).toContain(`ship order-1/${hash}`)

  // Step 8 sends its reader to the other guide, and goes on with its page.
  dapp.leave(
    'npx countersign init my-shop',
    'The guide for a backend prints it too, where it runs.',
  )
  await place.run(dapp, 'npm install countersign viem')
  await place.run(dapp, 'npm install --save-dev typescript esbuild')
  // It pays on the real chain: here it is compiled.
  place.writeFile('pay.ts', dapp.take('ts'))
  place.write(dapp, 'public/index.html', 'page.ts')
  await place.run(
    dapp,
    'npx esbuild page.ts --bundle --format=esm --minify --outfile=public/page.js',
  )
  const script = readFileSync(join(place.folder(), 'public/page.js'))
  const own = 500
  expect(brotliCompressSync(script).length).toBeLessThan(
    (await budgetOf('buyerClient')) + own,
  )

  const shop = `http://127.0.0.1:${place.shopPort}`
  const newPage = await openBrowser(onTestFinished)
  const second = await place.run(backend, 'npx tsx order.ts order-2')
  const page = await newPage()
  await page.goto(`${shop}/#order-2.${tokenIn(second)}`)
  await waitForText(page, ['drafted'])
  const buySecond = 'npx tsx buy.ts order-2 <token>'
  expect(await place.run(backend, buySecond, tokenIn(second))).toBe('stored\n')
  await waitForText(page, ['stored'])
  place.write(backend, 'fund.ts')
  const to: Address = `0x${'0'.repeat(38)}aa`
  const funded = await place.run(backend, 'npx tsx fund.ts <your address>', to)
  expect(funded).toBe(`sent 100 USDC to ${to}\n`)
  await expect.poll(() => balanceOf(place, to)).toBe(100_000_000n)
  backend.end()
  await payOnPage(place, await newPage(), shop)
  await place.runCommand(checkTypes)

  // Vite is what such a reader has already.
  place.write(dapp, 'vite.config.ts')
  dapp.end()
  for (const command of [
    'mkdir src && mv page.ts src && mv public/index.html . && rm public/page.js',
    `sed -i 's|src="page.js"|src="/src/page.ts"|' index.html`,
    'npm install --save-dev vite',
  ])
    await place.runCommand(command)
  const local = await place.startCommand('npx vite', /Local:/)
  const [vite = ''] = /http:\S+(?=\/)/.exec(local) ?? []
  await payOnPage(place, await newPage(), vite)

  // Init writes what the guides print, but what is for the real chain or Vite.
  const {
    'pay.ts': _,
    'vite.config.ts': __,
    ...files
  } = Object.fromEntries(place.written)
  expect(readWritten(join(other.folder(), 'my-shop'))).toEqual(files)
})

/** Bytes that a part of the package may take in a page. */
async function budgetOf(name: string): Promise<number> {
  const file = join(root, '.size-limit.js')
  type Budget = { name: string; limit: string }
  const { default: budgets }: { default: Budget[] } = await import(file)
  return Number.parseInt(
    budgets.find((budget) => budget.name === name)?.limit ?? '',
    10,
  )
}

/** Token units that an account has on the chain of the guide. */
const balanceOf = ({ chainPort }: Place, account: Address): Promise<bigint> =>
  readContract(
    createClient({ transport: http(`http://127.0.0.1:${chainPort}`) }),
    {
      address: usdc,
      abi: erc20Abi,
      functionName: 'balanceOf',
      args: [account],
    },
  )

/** The buyer's token, behind the order's id. */
const tokenIn = (printed: string): string => printed.trim().split(' ')[1] ?? ''

/** Code and settings of a folder, by name. */
function readWritten(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return Object.fromEntries(
    files
      .filter((file) => /\.(ts|html)$|^tsconfig/.test(file))
      .map((file) => [file, readFileSync(join(folder, file), 'utf8')]),
  )
}

/** Clicks the button of a new order’s page, and follows it until it is paid. */
async function payOnPage(
  place: Place,
  page: Page,
  origin: string,
): Promise<void> {
  const id = `order-at-${new URL(origin).port}`
  const token = tokenIn(await place.runCommand(`npx tsx order.ts ${id}`))
  await giveWallet(page, `http://127.0.0.1:${place.chainPort}`)
  let streams = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/events')) streams += 1
  })
  await page.goto(`${origin}/#${id}.${token}`)
  await waitForText(page, ['drafted'])
  await page.getByRole('button', { name: 'Authorize payment' }).click()
  await waitForText(page, ['stored'])
  await place.runCommand(`npx tsx capture.ts ${id}`)
  await waitForText(page, ['safe', 'finalized'])
  expect(streams).toBe(1)
}

/** What a wallet's extension gives a page; the chain's node signs. */
async function giveWallet(page: Page, url: string): Promise<void> {
  const node = createClient({ transport: http(url) })
  type Asked = { method: string; params?: unknown }
  await page.exposeFunction('askWallet', ({ method, params }: Asked) =>
    node.request({
      method: method === 'eth_requestAccounts' ? 'eth_accounts' : method,
      params,
    } as never),
  )
  await page.addInitScript(
    'globalThis.ethereum = { request: (asked) => askWallet(asked) }',
  )
}

type OnFinished = (end: () => Promise<void>) => void

async function openBrowser(
  onFinished: OnFinished,
): Promise<() => Promise<Page>> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-browser-'))
  const browser = await launch(folder)
  onFinished(async () => {
    await browser.close()
    rmSync(folder, { recursive: true, force: true })
  })
  return () => browser.newPage()
}

/** Fails with what the page says instead. */
function waitForText(page: Page, texts: readonly string[]): Promise<unknown> {
  return expect
    .poll(() => page.locator('p').textContent(), { timeout: 300_000 })
    .toMatch(new RegExp(`^(${texts.join('|')})$`))
}
