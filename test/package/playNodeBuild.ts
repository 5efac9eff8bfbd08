/**
 * Runs tests on the build for Node: those that import entries only, on the
 * package as it is installed; the unit tests, on sources that have the same
 * parts of viem inside, beside the viem of the tests.
 *
 *     npm run build && npx tsx test/package/playNodeBuild.ts
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { build } from 'esbuild'
import { nodeBuild } from '../../scripts/buildForNode.js'
import { readManifest } from './checkContents.js'
import { installPackage, root } from './installPackage.js'

/** Logs over a WebSocket, both databases, and orders from draft to capture. */
const chainTests = [
  'test/chain/chain/logs/watchLogs.test.ts',
  'test/chain/chain/rpc/requests.test.ts',
  'test/thorough/examples/demo.test.ts',
  'test/chain/payments/verify/hostile.test.ts',
  'test/chain/sql/storeCases.test.ts',
]

/**
 * These read documents and sources, which are the same for every build, or test
 * what the build for Node leaves as it is.
 */
const sameForAll = /^test\/unit\/(accelerate|devchain|docs|examples|messages)\//

/** The ordinary run plays these alone with the parts of viem. */
const callsViemMost = /^(src|test\/unit)\/(core|chain|payments)\//

const isFull = process.env.COUNTERSIGN_FULL === '1'

const unitTests = ['src', 'test/unit']
  .flatMap((folder) =>
    readdirSync(join(root, folder), {
      recursive: true,
      encoding: 'utf8',
    }).map((file) => `${folder}/${file}`),
  )
  .filter((file) => file.endsWith('.test.ts') && !sameForAll.test(file))

const { peerDependencies, peerDependenciesMeta } = readManifest(root)
const peers = Object.keys({ ...peerDependencies, ...peerDependenciesMeta })
const consumer = installPackage({ peers })
process.on('exit', consumer.remove)

const publicTests: string[] = []
for (const file of unitTests)
  if (await usesOnlyEntries(file)) publicTests.push(file)
for (const file of chainTests)
  if (!(await usesOnlyEntries(file)))
    throw new Error(
      `${file} imports sources, so it would not test the package.`,
    )
play([...publicTests, ...chainTests], {
  COUNTERSIGN_PACKAGE: consumer.installed,
})
play(
  isFull ? unitTests : unitTests.filter((file) => callsViemMost.test(file)),
  { COUNTERSIGN_VIEM_PARTS: await bundleParts() },
)

/**
 * True for a test that a user could run. What a test mocks is replaced in
 * sources, and not in what Node imports by itself.
 */
async function usesOnlyEntries(file: string): Promise<boolean> {
  if (/vi\.(do)?mock\(/i.test(readFileSync(join(root, file), 'utf8')))
    return false
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [file],
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    metafile: true,
    write: false,
    outdir: consumer.project,
    // Their own paths would lead to the sources.
    tsconfigRaw: {},
    logLevel: 'silent',
  })
  const inputs = Object.keys(metafile.inputs)
  return inputs.every((input) => !input.startsWith('src/'))
}

/** The parts of viem in one file, as the build for Node has them. */
async function bundleParts(): Promise<string> {
  const outfile = join(consumer.project, 'viemParts.mjs')
  await build({
    ...nodeBuild,
    stdin: {
      contents: ['viem', 'viem/actions', 'viem/utils']
        .map((path) => `export * from '${path}'`)
        .join('\n'),
      resolveDir: join(root, 'src'),
      sourcefile: join(root, 'src/viemParts.ts'),
    },
    outfile,
    write: true,
  })
  return outfile
}

function play(files: readonly string[], variables: NodeJS.ProcessEnv): void {
  const projects = ['unit', 'chain', 'thorough'].flatMap((name) => [
    '--project',
    name,
  ])
  const { status } = spawnSync(
    join(root, 'node_modules/.bin/vitest'),
    ['run', ...projects, '--reporter', 'dot', ...files],
    { cwd: root, env: { ...process.env, ...variables }, stdio: 'inherit' },
  )
  if (status !== 0) process.exit(1)
}
