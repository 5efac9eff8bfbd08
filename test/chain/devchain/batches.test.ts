import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { delegateSubmitter } from 'countersign/batches'
import { startDevChain } from 'countersign/devchain'
import { concatHex } from 'viem'
import { getCode } from 'viem/actions'
import { expect, test } from 'vitest'
import {
  caliburDelegate,
  metamaskDelegate,
} from '../../../src/core/knownDelegates.js'
import { loadDelegationCode } from '../../../src/devchain/loadDelegationCode.js'

const delegationPackage = '@metamask/delegation-abis'

test('a chain with pre-confirmations has what batches need, too', async () => {
  const chain = await startDevChain({
    batches: true,
    preconfirmations: 'flashblocks',
  })
  try {
    const { merchant, public: reader } = chain.clients
    const { delegation } = await delegateSubmitter(merchant)
    expect(delegation).toMatchObject({ name: 'metamask', version: '1.3.0' })
    const { address } = merchant.account
    expect(await getCode(reader, { address })).toBe(
      concatHex(['0xef0100', metamaskDelegate.address]),
    )
  } finally {
    await chain.stop()
  }
})

test('without the option there is no delegate', async () => {
  const chain = await startDevChain({ blockTime: 0 })
  const { address } = caliburDelegate
  const code = await getCode(chain.clients.public, { address })
  const refused = delegateSubmitter(chain.clients.merchant)
  await expect(refused).rejects.toThrow(
    /^There is no code at 0x63c0c19a282a1b52b07dd5a65b58948a07dae32b on this chain\.$/,
  )
  await chain.stop()
  expect(code).toBeUndefined()
})

test.each([
  [{ batches: 'yes' }, 'batches must be true or false, not "yes".'],
  [
    { batches: true, forkUrl: 'http://127.0.0.1:1' },
    'batches must be left out with forkUrl, since a fork has its own contracts, not true (boolean).',
  ],
])('an option is refused: %o', async (options, message) => {
  await expect(startDevChain(options as never)).rejects.toThrow(message)
})

test.each([
  ['is not installed', undefined],
  ['has another version', '2.0.1'],
])('the error says which package, when it %s', async (_, version) => {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-delegation-'))
  try {
    const installed = join(folder, 'node_modules', delegationPackage)
    if (version !== undefined) {
      const from = join('node_modules', delegationPackage)
      await cp(from, installed, { recursive: true })
      const facts = JSON.stringify({ name: delegationPackage, version })
      await writeFile(join(installed, 'package.json'), facts)
    }
    const loading = loadDelegationCode([join(folder, 'index.js')])
    await expect(loading).rejects.toMatchObject({
      name: 'DelegationPackageNotFoundError',
      message:
        'batches: true needs the npm package @metamask/delegation-abis@2.0.0: install it with npm install --save-dev @metamask/delegation-abis@2.0.0.',
    })
  } finally {
    await rm(folder, { recursive: true })
  }
})

test('the version that is asked for is the one that is installed here', () => {
  const { devDependencies } = createRequire(import.meta.url)(
    '../../../package.json',
  )
  expect(devDependencies[delegationPackage]).toBe('2.0.0')
})
