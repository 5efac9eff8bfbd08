import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A package manager, and how a project uses it. */
export type Manager = {
  name: string
  /** The program and its first arguments. */
  program: readonly string[]
  install: readonly string[]
  add: readonly string[]
  /** True when programs find packages only if it runs them. */
  runsPrograms?: boolean
  /** Files that a project has beside its manifest. */
  files?: Readonly<Record<string, string>>
  /** True when it cannot run on the oldest Node that is supported. */
  needsNode22?: boolean
}

/** The folder with a lockfile of its own. */
export const folder: string = fileURLToPath(new URL('.', import.meta.url))

/** Node's folder of programs for what does not run on the oldest. */
export const node22: string = join(folder, 'node_modules/node22/bin')

const node = (path: string): string[] => [
  'node',
  join(folder, 'node_modules', path),
]

const npmOptions = [
  '--ignore-scripts',
  '--prefer-offline',
  '--no-audit',
  '--no-fund',
]

const npm = {
  install: ['install', ...npmOptions],
  add: ['install', ...npmOptions],
}
const pnpm = {
  program: node('pnpm/bin/pnpm.cjs'),
  install: ['install', '--ignore-scripts', '--prefer-offline'],
  add: ['add', '--ignore-scripts', '--prefer-offline'],
}
const yarn = {
  program: node('@yarnpkg/cli-dist/bin/yarn.js'),
  install: ['install'],
  add: ['add'],
  runsPrograms: true,
}

export const npmOldest: Manager = {
  ...npm,
  name: 'npm 10.8.2',
  program: node('npm-oldest/bin/npm-cli.js'),
}

export const npmNewest: Manager = {
  ...npm,
  name: 'npm 12.2.0',
  program: node('npm-newest/bin/npm-cli.js'),
  needsNode22: true,
}

export const pnpmPlain: Manager = { ...pnpm, name: 'pnpm 10.34.8' }

export const pnpmUnhoisted: Manager = {
  ...pnpm,
  name: 'pnpm 10.34.8, hoist=false',
  files: { '.npmrc': 'hoist=false\n' },
}

export const yarnOldest: Manager = {
  name: 'yarn 1.22.22',
  program: node('yarn-oldest/bin/yarn.js'),
  install: ['install', '--ignore-scripts', '--prefer-offline'],
  add: ['add', '--ignore-scripts', '--prefer-offline'],
}

export const yarnFolders: Manager = {
  ...yarn,
  name: 'yarn 4.18.1',
  files: { 'yarn.lock': '', '.yarnrc.yml': 'nodeLinker: node-modules\n' },
}

export const yarnPlugAndPlay: Manager = {
  ...yarn,
  name: 'yarn 4.18.1, PnP without fallback',
  files: {
    'yarn.lock': '',
    '.yarnrc.yml': 'nodeLinker: pnp\npnpFallbackMode: none\n',
  },
}

export const bun: Manager = {
  name: 'bun 1.4.5',
  program: [join(folder, 'node_modules/@oven/bun-linux-x64/bin/bun')],
  install: ['install', '--ignore-scripts'],
  add: ['add', '--ignore-scripts'],
}

export const managers: readonly Manager[] = [
  npmOldest,
  npmNewest,
  pnpmPlain,
  pnpmUnhoisted,
  yarnOldest,
  yarnFolders,
  yarnPlugAndPlay,
  bun,
]
