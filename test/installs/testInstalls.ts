/**
 * Installs the packed package into projects that have other packages already,
 * with each package manager, and lets each project judge a signature.
 *
 *     npm run test:installs
 *     npm run test:installs -- --all
 *     npx tsx test/installs/testInstalls.ts zod 'yarn 4'
 *
 * With `--all` each project meets each manager; with `--gate` it is the two
 * that `npm test` has time for.
 */
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { transformSync } from 'esbuild'
import { packOnce } from '../package/installPackage.js'
import * as by from './managers.js'
import * as into from './projects.js'

type Row = readonly [into.Project, by.Manager]

/** Each project and each manager at least once. */
const chosen: readonly Row[] = [
  [into.onlyViem, by.npmOldest],
  [into.withTypes, by.npmOldest],
  [into.wagmi, by.npmOldest],
  [into.zod3, by.npmOldest],
  [into.nest, by.npmOldest],
  [into.x402, by.npmNewest],
  [into.kysely29, by.npmNewest],
  [into.next, by.npmNewest],
  [into.oldOx, by.pnpmPlain],
  [into.kysely27, by.pnpmUnhoisted],
  [into.withNewestTypes, by.yarnOldest],
  [into.withTypes, by.yarnFolders],
  [into.kysely28, by.yarnPlugAndPlay],
  [into.withTypes, by.bun],
]

/** What most people have, and the strictest folders. */
const gate: readonly Row[] = [
  [{ ...into.withTypes, resolutions: ['nodenext'] }, by.npmOldest],
  [into.onlyViem, by.pnpmUnhoisted],
]

/** The words are parts of the names of the wanted rows. */
const { positionals: words, values } = parseArgs({
  allowPositionals: true,
  options: { all: { type: 'boolean' }, gate: { type: 'boolean' } },
})
const isGate = values.gate === true
const isFull = values.all ?? process.env.COUNTERSIGN_FULL === '1'
const every = () =>
  into.projects.flatMap((project) =>
    by.managers.map((manager) => [project, manager] as const),
  )
const rows = (isGate ? gate : isFull ? every() : chosen).filter((row) =>
  words.every((word) => nameOf(row).includes(word)),
)

const deadline = Date.now() + (isFull ? 120 : 25) * 60_000
const fixture = join(by.folder, 'project')
const print = (line: string) => process.stdout.write(`${line}\n`)

/** Not every manager reads all of npm's settings. */
const registry = spawnSync('npm', ['config', 'get', 'registry'], {
  encoding: 'utf8',
}).stdout.trim()

const omitted = isGate ? ['--omit=optional'] : []
run(by.folder, [
  'npm',
  'ci',
  '--ignore-scripts',
  '--prefer-offline',
  ...omitted,
])
const { tarball } = packOnce()
let failed = 0
for (const [project, manager] of rows) {
  const began = performance.now()
  const name = nameOf([project, manager])
  try {
    play(project, manager)
    const seconds = Math.round((performance.now() - began) / 1000)
    print(`✓ ${name} (${seconds} s)`)
  } catch (error) {
    failed++
    print(`✗ ${name}`)
    print(error instanceof Error ? error.message : String(error))
  }
}
print(`${rows.length - failed} passed, ${failed} failed`)
if (failed > 0) process.exitCode = 1

function nameOf([project, manager]: Row): string {
  return `${project.name}: ${manager.name}`
}

/** Node is a command of Yarn 4 itself; what is installed is run. */
function runWord(program: string): string[] {
  return program === 'node' ? [] : ['run']
}

/** A project of its own, with the package added to what it had. */
function play(project: into.Project, manager: by.Manager): void {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-installs-'))
  const needsNode22 = project.needsNode22 || manager.needsNode22
  const call = (command: readonly string[]) =>
    run(folder, command, needsNode22 === true)
  const use = ([program = '', ...args]: readonly string[]) =>
    call(
      manager.runsPrograms
        ? [...manager.program, ...runWord(program), program, ...args]
        : [program, ...args],
    )
  try {
    writeProject(folder, project, manager)
    call([...manager.program, ...manager.install])
    call([...manager.program, ...manager.add, `countersign@file:${tarball}`])
    use(['node', 'verdict.mjs'])
    for (const resolution of project.resolutions ?? [])
      use(['tsc', '--project', `tsconfig.${resolution}.json`])
    for (const command of project.commands ?? []) use(command)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function writeProject(
  folder: string,
  { packages, manifest, files, sources = [], resolutions = [] }: into.Project,
  manager: by.Manager,
): void {
  const all = {
    ...files,
    ...manager.files,
    'package.json': JSON.stringify({
      name: 'somebodys-project',
      version: '1.0.0',
      private: true,
      type: 'module',
      dependencies: packages,
      ...manifest,
    }),
  }
  cpSync(fixture, folder, { recursive: true })
  for (const [path, text] of Object.entries(all))
    writeFileSync(join(folder, path), text)
  for (const file of readdirSync(fixture).filter((it) => it.endsWith('.mts'))) {
    const { code } = transformSync(readFileSync(join(fixture, file), 'utf8'), {
      loader: 'ts',
      target: 'es2022',
    })
    writeFileSync(join(folder, file.replace('.mts', '.mjs')), code)
  }
  for (const resolution of resolutions)
    writeFileSync(
      join(folder, `tsconfig.${resolution}.json`),
      JSON.stringify({
        compilerOptions: {
          moduleResolution: resolution,
          module: resolution === 'nodenext' ? 'nodenext' : 'esnext',
          target: 'es2022',
          lib: ['es2022', 'dom'],
          types: ['node'],
          strict: true,
          exactOptionalPropertyTypes: true,
          noUncheckedIndexedAccess: true,
          skipLibCheck: false,
          noEmit: true,
        },
        files: ['verdict.mts', ...sources],
      }),
    )
}

/**
 * The output of a program that has to succeed.
 *
 * @throws an error with the program's own words.
 */
function run(
  cwd: string,
  [program = '', ...args]: readonly string[],
  isNode22 = false,
): string {
  const folders = [
    ...(isNode22 ? [by.node22] : []),
    join(cwd, 'node_modules/.bin'),
    process.env.PATH,
  ]
  const { status, signal, stdout, stderr } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: Math.max(1, deadline - Date.now()),
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      PATH: folders.join(delimiter),
      // A project of somebody's own is installed, and not this one checked.
      CI: '',
      YARN_ENABLE_SCRIPTS: 'false',
      YARN_ENABLE_TELEMETRY: 'false',
      npm_config_registry: registry,
      BUN_CONFIG_REGISTRY: registry,
      YARN_NPM_REGISTRY_SERVER: registry,
    },
  })
  if (status === 0) return stdout
  const command = [program, ...args].join(' ')
  const why = signal ? `was ended by ${signal}` : `ended with ${status}`
  throw new Error(`${command} ${why}\n${stdout}${stderr}`)
}
