import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../package/installPackage.js'

/** What somebody's project has before the package is added to it. */
export type Project = {
  name: string
  packages: Readonly<Record<string, string>>
  /** Members of its manifest beside these. */
  manifest?: object
  files?: Readonly<Record<string, string>>
  /** What its TypeScript reads besides the verdict. */
  sources?: readonly string[]
  /** Commands that have to succeed besides the verdict. */
  commands?: readonly (readonly string[])[]
  /** Module resolutions in which its TypeScript reads the types. */
  resolutions?: readonly Resolution[]
  needsNode22?: boolean
}

type Resolution = 'nodenext' | 'bundler' | 'node10'

const viem = { viem: '2.57.20' }
const types = { '@types/node': '20.19.43' }
const typescript = { ...types, typescript: '5.9.3' }
const react = { react: '19.3.1', 'react-dom': '19.3.1' }
const modern = ['nodenext', 'bundler'] as const
const store = [['node', 'keepOrders.mjs']]

export const onlyViem: Project = { name: 'viem', packages: viem }

export const withTypes: Project = {
  name: 'viem, typescript 5.9',
  packages: { ...viem, ...typescript },
  resolutions: [...modern, 'node10'],
}

export const withNewestTypes: Project = {
  name: 'viem, typescript 7',
  packages: { ...viem, ...types, typescript: '7.0.2' },
  resolutions: modern,
}

export const wagmi: Project = {
  name: 'wagmi and its peers',
  packages: {
    ...viem,
    ...typescript,
    ...react,
    '@tanstack/react-query': '5.108.0',
    wagmi: '3.7.7',
  },
  resolutions: ['bundler'],
}

export const x402: Project = {
  name: 'the packages of x402',
  packages: {
    ...viem,
    ...typescript,
    '@x402/core': '2.27.0',
    '@x402/evm': '2.27.0',
    '@x402/express': '2.27.0',
    '@x402/fetch': '2.27.0',
    express: '5.3.0',
  },
  commands: [['node', 'sellToX402.mjs']],
  sources: ['sellToX402.mts'],
  resolutions: ['bundler'],
}

export const zod3: Project = {
  name: 'zod 3',
  packages: { ...viem, ...typescript, zod: '3.25.76' },
  commands: [['node', '--conditions=module', 'refuseZod.mjs']],
  resolutions: ['nodenext'],
}

const database = { ...viem, ...typescript, libsql: '0.5.29' }

export const kysely27: Project = {
  name: 'kysely 0.27',
  packages: { ...database, kysely: '0.27.6' },
  commands: store,
  resolutions: ['nodenext'],
}

export const kysely28: Project = {
  name: 'kysely 0.28',
  packages: { ...database, kysely: '0.28.18' },
  commands: store,
  resolutions: ['nodenext'],
}

export const kysely29: Project = {
  name: 'kysely 0.29',
  packages: { ...database, kysely: '0.29.9' },
  commands: store,
  resolutions: ['nodenext'],
  needsNode22: true,
}

export const oldOx: Project = {
  name: 'the ox of viem on top',
  packages: { ...viem, ...typescript, ox: '0.14.67' },
  commands: [['node', 'refuseOx.mjs']],
  resolutions: ['nodenext'],
}

export const next: Project = {
  name: 'Next',
  packages: { ...viem, ...typescript, ...react, next: '16.4.5' },
  resolutions: ['bundler'],
}

/** As NestJS's starter sets it up, with the lines of our guide for Jest. */
export const nest: Project = {
  name: 'NestJS 11 with Jest',
  packages: {
    ...viem,
    ...typescript,
    '@hono/node-server': '2.1.8',
    hono: '4.13.19',
    '@nestjs/common': '^11.0.1',
    '@nestjs/core': '^11.0.1',
    '@nestjs/platform-express': '^11.0.1',
    '@nestjs/testing': '^11.0.1',
    '@types/jest': '30.0.0',
    jest: '30.5.2',
    'reflect-metadata': '0.2.2',
    rxjs: '7.8.2',
    'ts-jest': '29.4.15',
  },
  manifest: { type: 'commonjs', jest: jestOfNest() },
  files: {
    'src/payments.ts': recipeOf('NestJS'),
    'src/served.spec.ts': readFileSync(
      new URL('nest/served.spec.ts', import.meta.url),
      'utf8',
    ),
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        module: 'nodenext',
        moduleResolution: 'nodenext',
        resolvePackageJsonExports: true,
        esModuleInterop: true,
        isolatedModules: true,
        declaration: true,
        removeComments: true,
        emitDecoratorMetadata: true,
        experimentalDecorators: true,
        allowSyntheticDefaultImports: true,
        target: 'ES2023',
        sourceMap: true,
        outDir: './dist',
        skipLibCheck: true,
        strictNullChecks: true,
      },
    }),
  },
  commands: [['jest']],
  resolutions: ['nodenext', 'node10'],
}

/** The code that our recipes have under a heading. */
function recipeOf(heading: string): string {
  const guide = readFileSync(join(root, 'docs/recipes.md'), 'utf8')
  const [, section = ''] = guide.split(`### ${heading}\n`)
  const [, code] = /```\w+\n([^`]+)```/.exec(section) ?? []
  if (!code) throw new Error(`The recipes have no code for ${heading}.`)
  return code
}

function jestOfNest(): object {
  const lines = JSON.parse(recipeOf('Jest'))
  return {
    moduleFileExtensions: ['js', 'json', 'ts'],
    rootDir: 'src',
    testRegex: '.*\\.spec\\.ts$',
    ...lines,
    transform: { ...lines.transform, '^.+\\.(t|j)s$': 'ts-jest' },
    testEnvironment: 'node',
  }
}

export const projects: readonly Project[] = [
  onlyViem,
  withTypes,
  withNewestTypes,
  wagmi,
  x402,
  zod3,
  kysely27,
  kysely28,
  kysely29,
  oldOx,
  next,
  nest,
]
