import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CheckFinding } from '../../../src/cli/checks/types.js'
import { eventually } from '../../unit/support/webhooksRun.js'
import {
  type CliShop,
  openCliShop,
  openServer,
  typed,
} from '../support/cliShop.js'

const root = process.cwd()

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop
let orders: Orders
const key = generatePrivateKey()

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain)
  orders = openServer(shop)
  await orders.draft({ orderId: 'real', amount: '1' })
  await chain.mint({ to: privateKeyToAccount(key).address, value: 100n })
  symlinkSync(join(root, 'node_modules'), join(shop.folder, 'node_modules'))
  const settings = { extends: join(root, 'tsconfig.json') }
  writeFileSync(join(shop.folder, 'tsconfig.json'), JSON.stringify(settings))
  writeFileSync(join(shop.folder, 'countersign.config.ts'), config())
})
afterAll(async () => {
  await orders.close()
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

const config = () => `
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil } from 'viem/chains'

const url = '${chain.urls.http}'
const account = privateKeyToAccount('${shop.merchantKey}')
export default {
  store: sqliteStore({ file: 'orders.db' }),
  seal: 'none',
  tokens: [{ client: createReadClient({ url, chain: anvil }), token: '${chain.token}' }],
  wallets: [createClient({ account, chain: anvil, transport: http(url) })],
}
`

/** Kills `doctor --send` once it has requested the capture of its order. */
async function killRun(): Promise<string> {
  const args = ['doctor', '--send', '--config', 'countersign.config.ts']
  const bin = ['--import', 'tsx', join(root, 'src/cli/bin.ts')]
  const child = spawn(process.execPath, [...bin, ...args], {
    cwd: shop.folder,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.stdin.end(`${key}\n`)
  let orderId = ''
  await eventually(async () => {
    const [order] = (await orders.list({ states: ['stored'] })).orders
    orderId = order?.id ?? ''
    return order?.requested
  }).toBe('capture')
  child.kill('SIGKILL')
  await once(child, 'exit')
  return orderId
}

async function examine(...args: string[]): Promise<string> {
  const { stdout } = await shop.run(['doctor', '--json', ...args], {
    stdin: typed(key),
    untilInterrupted: () => new Promise(() => {}),
  })
  const findings: CheckFinding[] = JSON.parse(stdout).findings
  return findings
    .filter(({ subject }) => subject === 'test payment')
    .map(({ level, words }) => `${level} ${words}`)
    .join('\n')
}

test('doctor names the order that a killed run left, and doctor --send voids it', async () => {
  const orderId = await killRun()
  expect(await examine()).toBe(
    `warn order ${orderId} of an earlier run is still stored, so a worker can capture it`,
  )
  expect((await orders.get({ orderId })).state).toBe('stored')

  expect(await examine('--send', '--timeout', '1')).toContain(
    `ok order ${orderId} of an earlier run is voided: no worker captures it any more`,
  )
  expect((await orders.get({ orderId })).state).toBe('voided')
  expect((await orders.get({ orderId: 'real' })).state).toBe('drafted')
  expect(await examine()).toBe('')
})
