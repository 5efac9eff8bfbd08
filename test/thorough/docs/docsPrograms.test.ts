import {
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import {
  decodePayment,
  preparePayment,
  type SignedPayment,
  signPayment,
  verifyPayment,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { createWalletClient, custom, publicActions } from 'viem'
import { afterAll, expect, test } from 'vitest'
import { readExamples } from '../../unit/support/docExamples.js'

const folder = mkdtempSync(join(tmpdir(), 'countersign-programs-'))
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

/** A block of a page, as it is but for the chain. */
async function load<module>(page: string, index: number): Promise<module> {
  const code = readExamples(page, readFileSync(page, 'utf8'))[index]?.code
  const file = join(folder, `${page.replaceAll('/', '-')}-${index}.ts`)
  const here = (code ?? '').replaceAll('8453', '31337')
  writeFileSync(file, here)
  return import(file)
}

type Finality = {
  captureAndWait(
    shop: object,
    payment: SignedPayment,
    tell: (finality: string) => void,
  ): Promise<string>
}

test('a payment is told of as the guide to finality says, ever surer', async () => {
  const { captureAndWait } = await load<Finality>('docs/finality.md', 0)
  const offer = { token, to, amount: '0.01' }
  const draft = await preparePayment(reader, { ...offer, from })
  const expected = { ...offer, chainId: 31337 }
  const payment = await signPayment(payer, { payment: draft, expect: expected })
  const told: string[] = []
  const tell = (finality: string) => told.push(finality)
  expect(await captureAndWait({ reader, merchant }, payment, tell)).toBe(
    'captured',
  )
  expect(told).toHaveLength(3)
  expect(told.at(-1)).toMatch(/^(safe|finalized)$/)
})

type Viem = { [name in 'payByHand' | 'pay']: typeof payment }
declare function payment(
  clients: object,
  order: { from: string; to: string; token: string },
): Promise<unknown>

test('before and after of the guide from viem both pay', async () => {
  const clients = { buyer: payer, merchant, reader }
  const { payByHand } = await load<Viem>('docs/migrate-viem.md', 0)
  const { pay } = await load<Viem>('docs/migrate-viem.md', 1)
  expect(await payByHand(clients, { from, to, token })).toBe(true)
  expect(await pay(clients, { from, to, token })).toBe('captured')
})

type X402 = {
  settle(
    clients: object,
    asked: { payload: unknown; offer: object },
  ): Promise<{ success: boolean; reason?: string }>
}

const requirements = {
  scheme: 'exact',
  network: 'eip155:31337',
  asset: token,
  payTo: to,
  amount: '12500000',
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
} as const

const signAsX402 = () =>
  new ExactEvmScheme(payer.account).createPaymentPayload(2, requirements)

test('what a client of x402 signs is settled as the guide says', async () => {
  const { settle } = await load<X402>('docs/migrate-x402.md', 0)
  const { payload } = await signAsX402()
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

test('warm, a verdict is one request here and three there', async () => {
  let requests = 0
  const client = createWalletClient({
    account: relayer.account,
    chain: chain.chain,
    transport: custom({
      request: (asked) => {
        requests++
        return reader.request(asked as never)
      },
    }),
  }).extend(publicActions)
  const signer = { ...client, address: relayer.account.address }
  const facilitator = new ExactFacilitator(
    toFacilitatorEvmSigner(signer as never),
  )
  const theirs = async (): Promise<void> => {
    const { payload } = await signAsX402()
    const asked = { x402Version: 2, accepted: requirements, payload }
    const verdict = await facilitator.verify(asked, requirements)
    expect(verdict.isValid).toBe(true)
  }
  const primaryType = 'TransferWithAuthorization'
  const ours = async (): Promise<void> => {
    const { payload } = await signAsX402()
    const { authorization, signature } = payload
    const { name, version } = requirements.extra
    const domain = { name, version, chainId: 31337, verifyingContract: token }
    const payment = decodePayment({
      primaryType,
      domain,
      signature,
      message: authorization,
    }) as SignedPayment
    const expected = { token, to, amount: '12.50', primaryType } as const
    const verdict = await verifyPayment(client, { payment, expect: expected })
    expect(verdict.ok).toBe(true)
  }
  const count = async (judge: () => Promise<void>): Promise<number> => {
    await judge()
    requests = 0
    await judge()
    return requests
  }
  expect([await count(ours), await count(theirs)]).toEqual([1, 3])
})
