/**
 * Builds the package once more, for Node: with the functions of viem and zod
 * that it uses inside, because an import of all of viem takes ten times as long
 * as an import of ours.
 *
 *     npx tsx scripts/buildForNode.ts
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build, type Metafile } from 'esbuild'
import { pageAssets, writePageAssets } from './bundlePages.js'
import { commandFile, nodeEntryFiles } from './entryFiles.js'
import { openDoors } from './openDoors.js'
import { leaveShared, writeSharedFiles } from './sharedFiles.js'
import { shareOneFile } from './shareOneFile.js'
import { takeParts } from './takeParts.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = join(root, 'dist/node')

export const nodeBuild = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  target: 'es2022',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['import'],
  legalComments: 'none',
  metafile: true,
  write: false,
  logLevel: 'error',
  plugins: [takeParts],
} as const satisfies BuildOptions

/** Comments of the bundler: for users of the package, bytes without a use. */
const namesOfSources = /^\/\/ (?:src|test|node_modules)\/.*\n/gm

/** Bundles all entries and writes them beside the notice of what is inside. */
async function buildForNode(): Promise<void> {
  const { outputFiles, metafile } = await build({
    ...nodeBuild,
    plugins: [
      shareOneFile(root),
      pageAssets(root, '../'),
      leaveShared(root, '../'),
      openDoors(root),
      takeParts,
    ],
    entryPoints: { ...nodeEntryFiles, cli: commandFile },
    outdir: folder,
    splitting: true,
  })
  await writeSharedFiles(root)
  // File names change with their contents.
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const { path, text } of outputFiles) {
    const code = text.replaceAll(namesOfSources, '')
    writeFileSync(path, isCommand(path) ? `#!/usr/bin/env node\n${code}` : code)
  }
  const inside = [metafile, ...(await writePageAssets(root))]
  writeFileSync(join(folder, 'NOTICE.txt'), noticeOf(inside))
  dropNotes()
}

/** True for the file that `npx countersign` runs. */
function isCommand(path: string): boolean {
  return path === join(folder, 'cli.js')
}

/**
 * Removes the links to source maps, which the package does not have: a bundler
 * would look for them. Empties the lines that name source files: the maps beside
 * the build count lines.
 */
function dropNotes(): void {
  const dist = join(root, 'dist')
  for (const file of readdirSync(dist)) {
    if (!file.endsWith('.js')) continue
    const path = join(dist, file)
    const text = readFileSync(path, 'utf8')
    const code = text.replaceAll(namesOfSources, '\n')
    writeFileSync(path, code.replace(/\n\/\/# sourceMappingURL=.*/g, ''))
  }
}

/** The licences of the packages of which a part is inside. */
function noticeOf(metafiles: readonly Metafile[]): string {
  const inputs = metafiles
    .flatMap(({ outputs }) => Object.values(outputs))
    .flatMap((output) => Object.entries(output.inputs))
  const folders = inputs
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .flatMap(([path]) => path.match(packageFolder)?.[0] ?? [])
  const notices = [...new Set(folders)].sort().map((path) => {
    const { name, version } = JSON.parse(
      readFileSync(join(root, path, 'package.json'), 'utf8'),
    )
    const license = readFileSync(join(root, path, 'LICENSE'), 'utf8').trim()
    return `${name} ${version}\n\n${license}\n`
  })
  const title =
    'The files in this folder, and those beside it whose names end with Assets.js,\ncontain parts of these packages.\n'
  return [title, ...notices].join(`\n${'-'.repeat(72)}\n\n`)
}

/** As in `node_modules/viem/node_modules/@noble/curves`. */
const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildForNode()
