import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { parseAmount, paymentTypedData, signPayment } from 'countersign'
import { samplePayment } from 'countersign/testing'
import { type Hex, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { verifyTypedData } from 'viem/utils'
import { expect, test } from 'vitest'

// Each line of the README's comparison, against the packages it names.
const readme = readFileSync('README.md', 'utf8')

const versionOf = (name: string): string =>
  JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8')).version

/** All code of a package, without its comments' maps. */
const codeOf = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.m?js$/.test(file))
    .map((file) => readFileSync(join(folder, file), 'utf8'))
    .join('\n')

const x402 = codeOf('node_modules/@x402/evm/dist/esm')
const viem = codeOf('node_modules/viem/_esm')
const account = privateKeyToAccount(`0x${'7'.repeat(64)}`)
const payment = samplePayment({
  from: account.address.toLowerCase() as Hex,
})

/** The same signature, as some hardware wallets end it. */
async function signOddly(payload: object): Promise<Hex> {
  const signature = await account.signTypedData(payload as never)
  const v = Number.parseInt(signature.slice(-2), 16) - 27
  return `${signature.slice(0, -2)}0${v}` as Hex
}

test('the comparison names the versions it was checked against', () => {
  const versions = ['viem', '@x402/evm'].map((name) =>
    [name, versionOf(name).replace(/\.\d+$/, '')].join(' '),
  )
  for (const version of versions) expect(readme).toContain(`| ${version} `)
})

test('the oldest viem that the peer range admits is the one tests are run on', () => {
  const { peerDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(peerDependencies.viem).toBe(`^${versionOf('viem-oldest')}`)
})

test('messages: x402 builds Transfer, Receive for other schemes, and no Cancel', () => {
  expect(x402).toContain('TransferWithAuthorization')
  expect(x402).toContain('ReceiveWithAuthorization')
  expect(x402).not.toMatch(/cancelAuthorization|CancelAuthorization/)
  expect(viem).not.toMatch(/(receive|cancel)WithAuthorization|CancelAuth/i)
})

test('domain: nobody else reads the separator', () => {
  expect(x402).not.toContain('DOMAIN_SEPARATOR')
})

test('a v of 0 or 1: ours is brought into form, viem says true, x402 passes it on', async () => {
  const odd = await signOddly(paymentTypedData(payment))
  expect(odd).toMatch(/0[01]$/)
  const wallet = {
    request: async ({ method }: { method: string }) =>
      method === 'eth_chainId' ? '0x2105' : odd,
  }
  const { domain, message } = payment
  const signed = await signPayment(wallet, {
    payment,
    expect: {
      chainId: domain.chainId,
      token: domain.verifyingContract,
      to: message.to,
      amount: '12.50',
    },
  })
  expect(signed.signature).toMatch(/1[bc]$/)

  const { address } = account
  const typed = paymentTypedData(payment)
  const claimed = { ...typed, address, signature: odd }
  expect(await verifyTypedData(claimed as never)).toBe(true)

  const scheme = new ExactEvmScheme({ address, signTypedData: signOddly })
  const { payload } = await scheme.createPaymentPayload(2, {
    scheme: 'exact',
    network: 'eip155:8453',
    asset: domain.verifyingContract,
    payTo: message.to,
    amount: '12500000',
    maxTimeoutSeconds: 300,
    extra: { name: domain.name, version: domain.version },
  })
  expect(payload.signature).toMatch(/0[01]$/)
})

/** What `@x402/evm` scales amounts with; its own dependency. */
const peers = createRequire(createRequire(import.meta.url).resolve('@x402/evm'))
const { convertToTokenAmount } = peers('@x402/core/utils')

test('1.2345678 with 6 decimals: ours is refused, viem rounds, x402 truncates', () => {
  expect(() => parseAmount('1.2345678')).toThrow()
  expect(parseUnits('1.2345678', 6)).toBe(1_234_568n)
  expect(convertToTokenAmount('1.2345678', 6)).toBe('1234567')
})

test('what x402 sent is remembered once waiting for it has failed, not before', () => {
  const waits = /async function withPendingSettlementStore[\s\S]*?\n}/.exec(
    x402,
  )
  const [text = ''] = waits ?? []
  expect(text.indexOf('settle(')).toBeGreaterThan(0)
  expect(text.indexOf('store.set')).toBeGreaterThan(text.indexOf('settle('))
})
