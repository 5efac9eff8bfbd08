import {
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect, test } from 'vitest'
import { readExamples } from '../unit/docExamples.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-migrations-'))
symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
const chain = await startDevChain({ blockTime: 0.2 })
afterAll(async () => {
  await chain.stop()
  rmSync(folder, { recursive: true })
})

const { payer, merchant, relayer, public: reader } = chain.clients
const token = chain.token
const from = payer.account.address
const to = merchant.account.address

/** A block of a guide, as it is but for the chain. */
async function load<module>(page: string, index: number): Promise<module> {
  const text = readFileSync(`docs/${page}.md`, 'utf8')
  const code = readExamples(`${page}.md`, text)[index]?.code ?? ''
  const file = join(folder, `${page}-${index}.ts`)
  writeFileSync(file, code.replaceAll('8453', '31337'))
  return import(file)
}

type Viem = { [name in 'payByHand' | 'pay']: typeof payment }
declare function payment(
  clients: object,
  order: { from: string; to: string; token: string },
): Promise<unknown>

test('before and after of the guide from viem both pay', async () => {
  const clients = { buyer: payer, merchant, reader }
  const { payByHand } = await load<Viem>('migrate-viem', 0)
  const { pay } = await load<Viem>('migrate-viem', 1)
  expect(await payByHand(clients, { from, to, token })).toBe(true)
  expect(await pay(clients, { from, to, token })).toBe('captured')
})

type X402 = {
  settle(
    clients: object,
    asked: { payload: unknown; offer: object },
  ): Promise<{ success: boolean; reason?: string }>
}

test('what a client of x402 signs is settled as the guide says', async () => {
  const { settle } = await load<X402>('migrate-x402', 0)
  const { payload } = await new ExactEvmScheme(
    payer.account,
  ).createPaymentPayload(2, {
    scheme: 'exact',
    network: 'eip155:31337',
    asset: token,
    payTo: to,
    amount: '12500000',
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
  })
  const clients = { reader, sender: relayer }
  const offer = { token, to, amount: '12.50' }
  const dearer = { ...offer, amount: '12.51' }
  expect(await settle(clients, { payload, offer: dearer })).toEqual({
    success: false,
    reason: 'wrongAmount',
  })
  expect(await settle(clients, { payload, offer })).toMatchObject({
    success: true,
  })
})
