import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { startDevChain } from 'countersign/devchain'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CliShop, openCliShop, openServer } from '../support/cliShop.js'
import { findPort } from '../support/database.js'

const root = process.cwd()
const bin = ['--import', 'tsx', join(root, 'src/cli/bin.ts')]

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain)
  const orders = openServer(shop)
  await orders.draft({ orderId: 'order-1', amount: '1' })
  await orders.close()
  symlinkSync(join(root, 'node_modules'), join(shop.folder, 'node_modules'))
  const settings = { extends: join(root, 'tsconfig.json') }
  writeFileSync(join(shop.folder, 'tsconfig.json'), JSON.stringify(settings))
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

type Ended = { code: number | null; stdout: string; stderr: string }

function run(args: readonly string[], env = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: shop.folder, env: { ...process.env, ...env } }
    const child = execFile(
      process.execPath,
      [...bin, ...args],
      options,
      (_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    )
  })
}

/** A configuration as people write it, with keys from the environment. */
const config = () => `
import type { CreateOrdersParameters } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { createClient, type Hex, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'

const url = '${chain.urls.http}'
const account = privateKeyToAccount(process.env.MERCHANT_KEY as Hex)
export default {
  store: sqliteStore({ file: 'orders.db' }),
  seal: 'none',
  tokens: [{ client: createReadClient({ url, chain: anvil }), token: '${chain.token}' }],
  wallets: [createClient({ account, chain: anvil, transport: http(url) })],
} satisfies CreateOrdersParameters
`

test('a configuration in TypeScript runs, with keys from the environment', async () => {
  writeFileSync(join(shop.folder, 'countersign.config.ts'), config())
  const args = ['inspect', 'order-1', '--config', 'countersign.config.ts']
  const env = { MERCHANT_KEY: shop.merchantKey }
  expect(await run(args, env)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^order order-1: drafted\n/),
    stderr: '',
  })
  const wrong = { MERCHANT_KEY: `${shop.merchantKey}ab` }
  const refused = await run(args, wrong)
  expect(refused).toMatchObject({ code: 2, stdout: '' })
  expect(refused.stderr).toMatch(
    /^countersign.config.ts does not load: [^\n]+\n$/,
  )
  expect(refused.stderr).not.toContain(shop.merchantKey.slice(2, 42))
})

test('an error that a configuration leaves behind shows no key and no stack', async () => {
  const key = 'ab'.repeat(32)
  const file = 'late.config.mjs'
  writeFileSync(
    join(shop.folder, file),
    `Promise.reject(new Error('key ${key}'))
     await new Promise((resolve) => setTimeout(resolve, 60_000))`,
  )
  expect(await run(['health', '--config', file])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'Error: key 0x…\n',
  })
})

test('dev shows the keys of a chain that answers, until it is interrupted', async () => {
  const port = await findPort()
  const child = spawn(
    process.execPath,
    [...bin, 'dev', '--port', `${port}`, '--json'],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  const [line] = await once(lines, 'line')
  const { url, chainId, wallets } = JSON.parse(line)
  expect([url, chainId]).toEqual([`http://127.0.0.1:${port}`, 31337])
  const { privateKeyToAddress } = await import('viem/accounts')
  for (const { key, address } of wallets)
    expect(privateKeyToAddress(key)).toBe(address)
  const asked = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
  const ask = () =>
    fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
  expect(await (await ask()).json()).toMatchObject({ result: '0x7a69' })
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  await expect(ask()).rejects.toThrow()
})
