import {
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterAll, expect, test } from 'vitest'
import { readExamples } from '../support/docExamples.js'

const page = 'docs/quickstart-backend.md'

const folder = mkdtempSync(join(tmpdir(), 'countersign-secrets-'))
symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Imports the guide's configuration, for a chain of this id. */
async function loadConfig(chainId: number): Promise<object> {
  const example = readExamples(page, readFileSync(page, 'utf8')).find(
    ({ code }) => code.includes('// countersign.config.ts'),
  )
  const moved = (example?.code ?? '').replace(
    'chain: Chain = anvil',
    `chain: Chain = { ...anvil, id: ${chainId} }`,
  )
  const file = join(folder, `config-${chainId}.ts`)
  writeFileSync(file, moved)
  return import(file)
}

test('the quick start takes public keys on the local chain only', async () => {
  expect(await loadConfig(31337)).toMatchObject({ apiKey: 'development' })
  await expect(loadConfig(8453)).rejects.toThrow('Set MERCHANT_KEY')
})

test('a vulnerability can be reported by whoever has nothing but the package', () => {
  const [, section = ''] = readFileSync('SECURITY.md', 'utf8').split(
    '## Report a vulnerability',
  )
  expect(section.split('\n## ', 1)[0]).toContain('npm view countersign maint')
})

test('nothing is published that was not tested', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect(scripts.prepublishOnly).toBe('npm test && npm run test:thorough')
})
