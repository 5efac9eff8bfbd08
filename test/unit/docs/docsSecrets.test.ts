import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { readExamples } from '../support/docExamples.js'

const page = 'docs/quickstart-backend.md'

/** Imports the guide's file of secrets, for a chain of this id. */
async function loadSecrets(chainId: number): Promise<object> {
  const example = readExamples(page, readFileSync(page, 'utf8')).find(
    ({ code }) => code.includes('// secrets.ts'),
  )
  const moved = (example?.code ?? '').replace(
    'chain: Chain = anvil',
    `chain: Chain = { ...anvil, id: ${chainId} }`,
  )
  const { outputText } = ts.transpileModule(moved, {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
    },
  })
  const folder = join(process.cwd(), 'node_modules', '.countersign')
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `secrets-${chainId}.mjs`)
  writeFileSync(path, outputText)
  return import(pathToFileURL(path).href)
}

test('the quick start takes public keys on the local chain only', async () => {
  expect(await loadSecrets(31337)).toMatchObject({ apiKey: 'development' })
  await expect(loadSecrets(8453)).rejects.toThrow('Set MERCHANT_KEY')
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
