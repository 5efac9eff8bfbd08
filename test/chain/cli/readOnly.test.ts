import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { encodePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { type Address, getAddress, type Hex } from 'viem'
import { getTransaction } from 'viem/actions'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { commands } from '../../../src/cli/runCli.js'
import {
  type CliShop,
  openCliShop,
  openServer,
  type Ran,
  typed,
} from '../support/cliShop.js'
import { fundedAccount, revoke } from '../support/desk.js'
import { findSecrets, secretForms } from '../support/secretForms.js'
import { pay } from '../support/shop.js'

let chain: Awaited<ReturnType<typeof startDevChain>>
let shop: CliShop
/** A signed payment as it is sent, and everything that must never be shown. */
let signedText: string
let secrets: ReturnType<typeof secretForms>
let captureHash: Hex
let payer: Address

beforeAll(async () => {
  chain = await startDevChain({ blockTime: 0 })
  shop = await openCliShop(chain)
  const orders = openServer(shop)
  const buyer = await fundedAccount(chain, 100_000_000n)
  payer = buyer.address
  const accept = async (orderId: string) => {
    const { payment } = await orders.draft({ orderId, amount: '12.50' })
    const signed = await pay(buyer, payment)
    const verdict = await orders.accept({ orderId, payment: signed })
    if (!verdict.ok) throw new Error(`not accepted: ${verdict.reason}`)
    return signed
  }
  const captured = await accept('captured')
  const stored = await accept('stored')
  const canceled = await accept('canceled')
  await orders.draft({ orderId: 'drafted', amount: '1' })
  const result = await orders.capture({ orderId: 'captured', timeout: 60_000 })
  if (result.status !== 'captured') throw new Error(result.status)
  captureHash = result.proof.transactionHash
  const cancellation = await revoke(chain, canceled, buyer)
  await orders.acceptCancellation({ orderId: 'canceled', cancellation })
  await orders.close()
  const { r, s } = await getTransaction(chain.clients.public, {
    hash: captureHash,
  })
  const raw: Hex = `${r}${s.slice(2).padStart(64, '0')}1b`
  const key: Hex = `${shop.merchantKey}${shop.merchantKey.slice(2)}1b`
  signedText = encodePayment(stored)
  secrets = [captured, stored, canceled, cancellation]
    .map(({ signature }) => signature)
    .concat(raw, key)
    .flatMap(secretForms)
})
afterAll(async () => {
  rmSync(shop.folder, { recursive: true, force: true })
  await chain.stop()
})

const bytes = () =>
  createHash('sha256').update(readFileSync(shop.file)).digest('hex')

function expectNoSecret({ stdout, stderr }: Ran): void {
  expect(findSecrets(Buffer.from(stdout + stderr), secrets)).toEqual([])
}

test('the database is full of secrets', () => {
  expect(findSecrets(readFileSync(shop.file), secrets).length).toBeGreaterThan(
    3,
  )
})

const reading: [string, () => string[]][] = [
  ['doctor', () => ['doctor']],
  ['health', () => ['health']],
  ['inspect an order', () => ['inspect', 'captured']],
  ['inspect a stored order', () => ['inspect', 'stored']],
  ['inspect a transaction', () => ['inspect', captureHash]],
  ['inspect a payer', () => ['inspect', getAddress(payer)]],
  ['events', () => ['events']],
  ['ledger', () => ['ledger']],
  ['ledger with transfers', () => ['ledger', '--transfers']],
  ['audit', () => ['audit']],
  ['reconcile', () => ['reconcile']],
]

test.each(reading)(
  '%s changes no byte of the database and shows no secret, as text and as JSON',
  async (_, args) => {
    const before = bytes()
    for (const more of [[], ['--json']]) {
      const ran = await shop.run([...args(), ...more])
      expect(ran.stderr).toBe('')
      expect(ran.stdout).not.toBe('')
      expectNoSecret(ran)
      if (more.length > 0)
        for (const line of ran.stdout.trim().split('\n')) JSON.parse(line)
    }
    expect(bytes()).toBe(before)
  },
)

test('a database that servers use is read with its newest rows', async () => {
  const orders = openServer(shop)
  await orders.draft({ orderId: 'newest', amount: '1' })
  const ran = await shop.run(['inspect', 'newest'])
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  expect(ran.stdout).toMatch(/^order newest: drafted\n/)
  await orders.close()
})

test('a look from where the file is another one suspends nothing', async () => {
  const orders = openServer(shop)
  await orders.health()
  await orders.close()
  const moved = join(shop.folder, 'mounted.db')
  writeFileSync(moved, readFileSync(shop.file))
  const { sqliteStore } = await import('countersign/sql')
  const load = async () => ({
    default: shop.parameters({ store: sqliteStore({ file: moved }) }),
  })
  const before = readFileSync(moved)
  const looked = await shop.run(['doctor'], { load })
  expect(looked.stdout).toContain('looks like another database')
  expect(looked.stdout).toContain('ok    database: is not suspended')
  expect(readFileSync(moved).equals(before)).toBe(true)
})

test('suspend and resume write one setting, and say so', async () => {
  expect(await shop.run(['suspend'])).toEqual({
    code: 0,
    stdout: 'Suspended: nothing is sent until you run countersign resume.\n',
    stderr: '',
  })
  const suspended = await shop.run(['health'])
  expect(suspended.code).toBe(1)
  expect(suspended.stdout).toMatch(/^suspended: nothing is sent/)
  const doctor = await shop.run(['doctor'])
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toContain('fail  database: is suspended')
  expect((await shop.run(['resume', '--json'])).stdout).toBe(
    '{"suspended":false}\n',
  )
  expect((await shop.run(['health'])).code).toBe(0)
})

test('what a configuration throws is printed without keys and stack traces', async () => {
  const load = async () => {
    throw new Error(`bad key ${shop.merchantKey} of ${signedText}`)
  }
  for (const { name } of commands) {
    if (['init', 'dev', 'explain'].includes(name)) continue
    const args = name === 'inspect' ? [name, 'stored'] : [name]
    const ran = await shop.run(args, { load })
    expect(ran.code).toBe(2)
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toMatch(
      /^countersign.config.mjs does not load: bad key /,
    )
    expect(ran.stderr.trim().split('\n')).toHaveLength(1)
    expectNoSecret(ran)
  }
})

test('a payment that is explained shows its fields, and never its signature', async () => {
  const { signature } = JSON.parse(signedText)
  for (const [text, code] of [
    [signedText, 0],
    [signature, 0],
    [`not json ${signature}`, 2],
    [signedText.replace('"nonce"', '"none"'), 2],
    [signedText.replace(signature.slice(4, 60), '0'.repeat(56)), 1],
  ] as const)
    for (const more of [[], ['--json'], ['--url', chain.urls.http]]) {
      const stdin = typed(text)
      const ran = await shop.run(['explain', ...more], { stdin })
      expect(ran.code).toBe(code)
      expectNoSecret(ran)
    }
})

test('a secret that is passed as an argument is not repeated', async () => {
  const { signature } = JSON.parse(signedText)
  for (const args of [
    [signature],
    ['health', signature],
    ['health', `--${signature}`],
    ['inspect', signature],
    ['explain', signature],
    ['events', '--after', signature],
  ]) {
    const ran = await shop.run(args)
    expect(ran.code).toBeGreaterThan(0)
    expectNoSecret(ran)
  }
})

test('without a database each command says so, and creates none', async () => {
  const empty = await openCliShop(chain)
  for (const { name } of commands) {
    if (['init', 'dev', 'explain', 'migrate'].includes(name)) continue
    const args = name === 'inspect' ? [name, 'stored'] : [name]
    const ran = await empty.run(args)
    expect(ran).toEqual({
      code: 1,
      stdout: '',
      stderr: `The store has no database yet: there is no file ${JSON.stringify(empty.file)}; your server or a worker creates it when it starts.\n`,
    })
    expect(existsSync(empty.file)).toBe(false)
  }
  expect(await empty.run(['migrate'])).toEqual({
    code: 0,
    stdout: 'The tables are those of this release.\n',
    stderr: '',
  })
  expect((await empty.run(['health'])).code).toBe(0)
  rmSync(empty.folder, { recursive: true, force: true })
})
