import { type Address, type Hex, keccak256, toHex } from 'viem'
import { getCode } from 'viem/actions'
import { expect, test } from 'vitest'
import { provesCode } from '../../../src/batches/delegates/proveDelegate.js'
import { hashDomain } from '../../../src/core/hashPayment.js'
import {
  caliburDelegate,
  type KnownCode,
  metamaskDelegate,
} from '../../../src/core/knownDelegates.js'
import { chain, reader } from '../support/batchDesk.js'

const codeAt = async (address: Address): Promise<Hex> =>
  (await getCode(reader, { address })) ?? '0x'

/** The code as the constructor writes it on another chain. */
async function codeOn(
  chainId: number,
  { address, domain }: KnownCode,
): Promise<Hex> {
  const code = await codeAt(address)
  if (!domain) return code
  const { name, chainIdAt, separatorAt } = domain
  const separator = hashDomain({
    name,
    version: '1',
    chainId,
    verifyingContract: address,
  })
  return [
    [chainIdAt, toHex(chainId, { size: 32 })] as const,
    [separatorAt, separator] as const,
  ].reduce<Hex>(
    (text, [at, word]) =>
      `${text.slice(0, 2 + at * 2)}${word.slice(2)}${text.slice(66 + at * 2)}` as Hex,
    code,
  )
}

const { manager } = metamaskDelegate
const chains = { base: 8453, baseSepolia: 84532, sepolia: 11155111 }

/** Hashes of the code that is deployed on these chains. */
test.each([
  [
    'base',
    metamaskDelegate,
    '0x6af675ac126c441bec5d5013da3331a52e7465fc0d5a662a8708a9f33ce497ba',
  ],
  [
    'baseSepolia',
    metamaskDelegate,
    '0x83805f9ac7395294043b10c3b7c1839b7e4582a3e693028c36df84978b09d4e2',
  ],
  [
    'sepolia',
    metamaskDelegate,
    '0x9270f73d98e7ed6978677bf0550038289efd510e67e700d024502d62510fc1e4',
  ],
  [
    'base',
    manager,
    '0x7c4661fe830df0bb9354f85a6a478882e436b7a234a0cf1f8206ce6753925670',
  ],
  [
    'baseSepolia',
    manager,
    '0xa6f025f7bb23ddc0e2546eec56400672c3dfac88c12963bfeb2b5e1121aeee4a',
  ],
  [
    'sepolia',
    manager,
    '0x49c7f94924ffb53300b7e8ee613814d5ba587fd886177f1e72b3203bf17da673',
  ],
] as const)(
  "MetaMask's code here is the code on %s, but for the words of the chain",
  async (network, known, hash) => {
    const chainId = chains[network]
    const code = await codeOn(chainId, known)
    expect(keccak256(code)).toBe(hash)
    expect(provesCode(code, known, chainId)).toBe(true)
  },
)

test('the code of one chain proves nothing on another, except on a development chain', async () => {
  const base = await codeOn(8453, metamaskDelegate)
  expect(provesCode(base, metamaskDelegate, 84532)).toBe(false)
  expect(provesCode(base, metamaskDelegate, 31337)).toBe(true)
})

test('the two words must belong together', async () => {
  const { domain } = metamaskDelegate
  if (!domain) throw new Error('no domain')
  const base = await codeOn(8453, metamaskDelegate)
  const at = 2 + domain.separatorAt * 2
  const other = `${base.slice(0, at)}${'0'.repeat(64)}${base.slice(at + 64)}`
  for (const chainId of [8453, 31337])
    expect(provesCode(other as Hex, metamaskDelegate, chainId)).toBe(false)
})

test.each([[metamaskDelegate], [manager], [caliburDelegate]])(
  'no code, less code, more code and any other byte prove nothing: %o',
  async (known) => {
    const code = await codeAt(known.address)
    expect(provesCode(code, known, 31337)).toBe(true)
    const half = code.slice(0, 2 + (code.length >> 2) * 2)
    for (const other of ['0x', half, `${code}00`])
      expect(provesCode(other as Hex, known, 31337)).toBe(false)
    for (let at = 2; at < code.length; at += 502) {
      const flipped = (Number.parseInt(code[at] ?? '0', 16) ^ 1).toString(16)
      const other = code.slice(0, at) + flipped + code.slice(at + 1)
      expect(provesCode(other as Hex, known, 31337)).toBe(false)
    }
  },
)

test('the stand-in for Calibur proves nothing on a live chain', async () => {
  const code = await codeAt(caliburDelegate.address)
  expect(provesCode(code, caliburDelegate, 8453)).toBe(false)
})

test('contracts that batches need stand at the published addresses, and cost no account a nonce', async () => {
  expect(metamaskDelegate.address).toBe(
    '0x63c0c19a282a1b52b07dd5a65b58948a07dae32b',
  )
  expect(
    (await codeAt('0xca11bde05977b3631167028862be2a173976ca11')).length,
  ).toBeGreaterThan(100)
  for (const { address } of chain.accounts)
    expect(await reader.getTransactionCount({ address })).toBe(0)
})
