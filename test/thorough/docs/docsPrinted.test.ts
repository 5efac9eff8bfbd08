import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { createMerchantClient } from 'countersign/client'
import type { Page } from 'playwright-core'
import { type Address, createClient, erc20Abi, http } from 'viem'
import { readContract } from 'viem/actions'
import { expect, test } from 'vitest'
import { launch } from '../../chain/support/openPage.js'
import { servePage } from '../../chain/support/quickStart.js'
import { button } from '../../chain/support/shopPage.js'
import { root } from '../../package/installPackage.js'
import { openGuide } from '../../package/openGuide.js'
import { openPlace, type Place } from '../../package/openPlace.js'

// With the packed package: run `npm run build` first.

const usdc: Address = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const merchant: Address = '0xB37d4F496a98A661FB34fD1824e90cE460871D6B'

test('all that both quick starts print works in the order printed, from an empty folder to a page that pays, the shop’s, and one’s own by the backend and by Vite', async ({
  onTestFinished,
}) => {
  const backend = openGuide(root, 'docs/quickstart-backend.md')
  const dapp = openGuide(root, 'docs/quickstart-dapp.md')
  const place = await openPlace()
  onTestFinished(() => place.stop())
  const other = await openPlace()
  onTestFinished(() => other.stop())
  const newPage = await openBrowser(onTestFinished)

  await place.run(backend, 'npx countersign init my-shop')
  await place.run(backend, 'cd my-shop && npm install')
  const initialized = readWritten(place.folder())
  // The same by hand, in a project of the reader.
  await other.runCommand('npm init -y && npm pkg set type=module')
  for (const command of [
    'npm install countersign viem kysely libsql zod hono @hono/node-server',
    'npm install --save-dev typescript @types/node tsx @viem/anvil @foundry-rs/anvil-linux-amd64',
  ])
    await other.run(backend, command)
  // Printed before the files that it checks.
  const checkTypes = backend.take('npx tsc')
  other.writeFile('tsconfig.json', backend.take('json'))
  await place.start(backend, 'npx countersign dev', /^chain 31337 at /)
  other.write(backend, 'countersign.config.ts', 'server.ts')
  await other.runCommand(checkTypes)
  expect(initialized).toEqual(Object.fromEntries(other.written))
  // Unchanged, except for free ports.
  for (const [name, text] of other.written) place.writeFile(name, text)

  const started = await place.start(backend, 'npx tsx server.ts', /^pay at /)
  const health = await place.run(
    backend,
    'NODE_OPTIONS="--import tsx" npx countersign health',
  )
  expect(health).toContain('31337')
  await payAtLink(place, await newPage(), started.replace('pay at ', ''))
  place.write(backend, 'buy.ts')
  const { id, buyerToken } = await draft(place)
  const shop = `http://127.0.0.1:${place.shopPort}`
  const link = `${shop}/pay/${id}#${buyerToken}`
  const buying = "npx tsx buy.ts '<link>'"
  expect(await place.run(backend, buying, link)).toBe('stored\n')
  expect(await balanceOf(place, merchant)).toBe(0n)

  place.write(backend, 'merchant.ts', 'capture.ts')
  const captured = await place.run(backend, 'npx tsx capture.ts')
  expect(captured).toMatch(/^(\S+ captured 0x[\da-f]{64}\n){2}$/)
  expect(captured).toContain(id)
  expect(await place.runCommand('npx tsx capture.ts')).toBe('')
  expect(await balanceOf(place, merchant)).toBe(25_000_000n)
  place.write(backend, 'ship.ts')
  const shipped = await place.run(backend, 'npx tsx ship.ts')
  expect(shipped).toMatch(/\nship \S+\/0x[\da-f]{64}\n$/)
  backend.end()
  await place.runCommand(checkTypes)

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
  await place.endLast()
  place.writeFile('server.ts', servePage(place.written.get('server.ts') ?? ''))
  await place.startCommand('npx tsx server.ts', /^pay at /)
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
})

/** Drafts an order as the guide's server does. */
async function draft({
  shopPort,
}: Place): Promise<{ id: string; buyerToken: string }> {
  const { order, buyerToken } = await createMerchantClient({
    url: `http://127.0.0.1:${shopPort}/payments`,
    key: 'development',
  }).draft({ amount: '12.50' })
  return { id: order.id, buyerToken }
}

/** Pays at the link that the server printed. */
async function payAtLink(
  place: Place,
  page: Page,
  link: string,
): Promise<void> {
  await giveWallet(page, `http://127.0.0.1:${place.chainPort}`)
  await page.goto(link)
  await button(page, 'Wallet of this browser').click()
  await button(page, 'Sign payment of 12.50 USDC').click()
  await page.getByRole('heading', { name: 'Payment authorized' }).waitFor()
}

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

/** Code and settings of a folder, by name. */
function readWritten(folder: string): Record<string, string> {
  const files = readdirSync(folder)
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
  const { id, buyerToken } = await draft(place)
  await giveWallet(page, `http://127.0.0.1:${place.chainPort}`)
  let streams = 0
  page.on('request', (request) => {
    if (request.url().endsWith('/events')) streams += 1
  })
  await page.goto(`${origin}/#${id}.${buyerToken}`)
  await waitForText(page, ['drafted'])
  await page.getByRole('button', { name: 'Authorize payment' }).click()
  await waitForText(page, ['stored'])
  await place.runCommand('npx tsx capture.ts')
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
  const browser = await launch(folder, { hasFonts: true })
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
