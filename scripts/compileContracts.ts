import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import solc from 'solc'

const root = fileURLToPath(new URL('..', import.meta.url))
const command = 'npx tsx scripts/compileContracts.ts'

/** Of any transient storage, even of a guard that clears its own. */
const transientWarning = '2394'

type Artifact = {
  abi: readonly unknown[]
  evm: {
    bytecode: { object: string }
    deployedBytecode: { object: string }
  }
}

type SolcOutput = {
  errors?: readonly { errorCode?: string; formattedMessage: string }[]
  contracts?: Readonly<Record<string, Readonly<Record<string, Artifact>>>>
}

/**
 * Compiles the `*.sol` and `*.yul` of every `contracts` folder under `src`.
 *
 * Returns the text of each generated file by its path from the repository
 * root. Nothing is written.
 */
export function compileContracts(): Map<string, string> {
  const texts = new Map<string, string>()
  for (const folder of contractFolders()) {
    const sources = listFiles(folder, '.sol')
    const pure = listFiles(folder, '.yul')
    const contracts = { ...compile('Solidity', folder, sources) }
    // Of these the compiler takes one at a time.
    for (const source of pure)
      Object.assign(contracts, compile('Yul', folder, [source]))
    for (const source of [...sources, ...pure])
      for (const [name, artifact] of Object.entries(contracts[source] ?? {})) {
        const isAbstract = artifact.evm.bytecode.object === ''
        if (isAbstract) continue
        const path = `${folder}/${name}.generated.ts`
        texts.set(path, renderArtifact({ folder, source, name, artifact }))
      }
  }
  return texts
}

/** Names the generated files that are missing, stale or without a source. */
export function staleContracts(texts: Map<string, string>): string[] {
  const changed = [...texts].filter(([path, text]) => readText(path) !== text)
  const orphans = contractFolders()
    .flatMap((folder) =>
      listFiles(folder, '.generated.ts').map((name) => `${folder}/${name}`),
    )
    .filter((path) => !texts.has(path))
  return [...changed.map(([path]) => path), ...orphans]
}

function contractFolders(): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => basename(path) === 'contracts')
    .map((path) => `src/${path}`)
    .filter((folder) => listFiles(folder, '.sol').length > 0)
}

function listFiles(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending))
    .sort()
}

function readText(path: string): string | undefined {
  const file = join(root, path)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}

function compile(
  language: 'Solidity' | 'Yul',
  folder: string,
  sources: readonly string[],
): NonNullable<SolcOutput['contracts']> {
  const input = {
    language,
    sources: Object.fromEntries(
      sources.map((name) => [name, { content: readText(`${folder}/${name}`) }]),
    ),
    settings: {
      optimizer: { enabled: true, runs: 200 },
      // What runs on other people's chains must not need young opcodes;
      // OpenZeppelin's token, on a development chain only, does.
      evmVersion: isDevChain(folder) ? 'cancun' : 'paris',
      metadata: { bytecodeHash: 'none', appendCBOR: false },
      outputSelection: {
        '*': {
          '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object'],
        },
      },
    },
  }
  const output: SolcOutput = JSON.parse(
    solc.compile(JSON.stringify(input), { import: readPackageSource }),
  )
  const messages = (output.errors ?? [])
    .filter(({ errorCode }) => errorCode !== transientWarning)
    .map((it) => it.formattedMessage)
  if (messages.length > 0) throw new Error(messages.join('\n'))
  return output.contracts ?? {}
}

function readPackageSource(
  path: string,
): { contents: string } | { error: string } {
  const contents = readText(`node_modules/${path}`)
  return contents === undefined ? { error: `${path} not found` } : { contents }
}

function isDevChain(folder: string): boolean {
  return folder === 'src/devchain/contracts'
}

/** What people deploy: its callers need its interface too. */
function isCheckout(folder: string): boolean {
  return folder === 'src/checkout/contracts'
}

function renderArtifact({
  folder,
  source,
  name,
  artifact,
}: {
  folder: string
  source: string
  name: string
  artifact: Artifact
}): string {
  const constant = `${name.charAt(0).toLowerCase()}${name.slice(1)}`
  const { bytecode, deployedBytecode } = artifact.evm
  const head = `// Compiled from ${source} by \`${command}\`.\n`
  // What reaches browsers is the code and nothing else: of a contract, the one
  // that is put over an account; of a Yul object, the one that creates.
  const { object } = source.endsWith('.yul') ? bytecode : deployedBytecode
  if (isCheckout(folder)) {
    const items = artifact.abi.map((item) => `  ${JSON.stringify(item)},\n`)
    return [
      head,
      `export const ${constant}Abi = [\n${items.join('')}] as const\n`,
      `/** Its creation code. */\n`,
      `export const ${constant}Code = '0x${bytecode.object}'\n`,
    ].join('')
  }
  if (!isDevChain(folder))
    return `${head}export const ${constant}Code = '0x${object}'\n`

  const items = artifact.abi.map((item) => `    ${JSON.stringify(item)},\n`)
  // A widened type keeps the code out of the emitted declarations.
  return [
    head,
    `export const ${constant}Artifact = {\n  abi: [\n${items.join('')}  ],\n`,
    `  bytecode: '0x${bytecode.object}' as \`0x\${string}\`,\n`,
    `  deployedBytecode: '0x${deployedBytecode.object}' as \`0x\${string}\`,\n`,
    '} as const\n',
  ].join('')
}

function main(): void {
  const texts = compileContracts()
  const stale = staleContracts(texts)
  if (process.argv.includes('--check')) {
    for (const path of stale) console.error(`${path} differs: run ${command}`)
    process.exitCode = stale.length > 0 ? 1 : 0
    return
  }
  for (const path of stale) {
    const text = texts.get(path)
    if (text === undefined) rmSync(join(root, path))
    else writeFileSync(join(root, path), text)
    console.log(path)
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
