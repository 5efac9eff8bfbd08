import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { startDevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import { sealer } from 'countersign/store'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventTypes } from '../../unit/support/eventTypes.js'
import {
  type CliShop,
  openCliShop,
  openServer,
  typed,
} from '../support/cliShop.js'
import { fundedAccount } from '../support/desk.js'
import { pay } from '../support/shop.js'

const page = readFileSync('docs/going-live.md', 'utf8')
const alerts = readFileSync('docs/alerts.md', 'utf8')
const events = readFileSync('docs/events.md', 'utf8')
const backups = readFileSync('docs/backups.md', 'utf8')

/** Each command of the guides, in their order. */
const lines = [
  ...`${page}\n${backups}`.matchAll(/```sh\n([\s\S]*?)\n```/g),
].flatMap(([, block = '']) => block.split('\n'))

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop
let orders: Orders
const stopping = new AbortController()
let running: Promise<void>
/** The key that the guide asks for. */
const payerKey = generatePrivateKey()

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 1 })
  const keys = { first: randomBytes(32) }
  shop = await openCliShop(chain, { seal: sealer({ keys, current: 'first' }) })
  orders = openServer(shop)
  running = orders.run({ signal: stopping.signal })
  const buyer = await fundedAccount(chain, 1_000_000n)
  const { address: to } = privateKeyToAccount(payerKey)
  await chain.mint({ to, value: 10n })
  const orderId = 'first-payment'
  const { payment } = await orders.draft({ orderId, amount: '0.01' })
  await orders.accept({ orderId, payment: await pay(buyer, payment) })
  const { status } = await orders.capture({ orderId, timeout: 60_000 })
  expect(status).toBe('captured')
})
afterAll(async () => {
  stopping.abort()
  await running
  await orders.close()
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

test('the guides have commands, and each is of this package', () => {
  expect(lines.length).toBeGreaterThan(12)
  for (const line of lines) expect(line).toMatch(/^npx countersign [a-z]+/)
})

test.each(lines.map((line, at) => [line, at] as const))(
  '%s ends with 0 in a shop that is ready (command %s)',
  async (line) => {
    const [, , ...args] = line.split(' ')
    const isAsking = args.includes('--send')
    const stdin = typed(isAsking ? payerKey : '')
    const untilInterrupted = () => new Promise<never>(() => {})
    const ran = await shop.run(args, { stdin, untilInterrupted })
    expect(ran).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).not.toMatch(/^fail/m)
  },
)

test('the suspended shop went on after the guide', async () => {
  expect((await orders.health()).suspended).toBe(false)
})

test('every event that the page of alerts names exists, and a row says what to do', () => {
  const [, list = ''] =
    /Also alert on these [^:]*: ([^.]+)\./.exec(alerts) ?? []
  const names = [...list.matchAll(/`(\w+)`/g)].map(([, name]) => name)
  const [, ranked = ''] = events.split('\n## Handle these five first\n')
  const [first = ''] = ranked.split('\n## All others\n')
  expect(names.length).toBeGreaterThan(5)
  for (const name of names) {
    expect(eventTypes).toContain(name)
    expect(first).toMatch(
      RegExp(`^\\| \`${name}\` \\| [^|]+ \\| [^|]+ \\|`, 'm'),
    )
  }
})
