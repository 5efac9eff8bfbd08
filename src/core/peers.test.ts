import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { findPeerProblem } from './peers.js'

const project = mkdtempSync(join(tmpdir(), 'countersign-peers-'))
const base = String(pathToFileURL(join(project, 'main.js')))
afterAll(() => rmSync(project, { recursive: true, force: true }))

function install(name: string, version: string): void {
  const folder = join(project, 'node_modules', name)
  mkdirSync(folder, { recursive: true })
  // A package that exports only its entry file hides its `package.json`. Its
  // version must be found nevertheless.
  const manifest = { name, version, exports: { '.': './index.js' } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
}

test.each([
  ['0.26.3', false],
  ['0.27.6', true],
  ['0.29.9', true],
  ['1.0.0', true],
  ['0.27.0-beta.1', true],
])('version %s of a package is new enough: %s', (version, fits) => {
  install('@scope/some-peer', version)
  const problem = findPeerProblem(
    { name: '@scope/some-peer', from: '0.27.0' },
    { isLoaded: true, base },
  )
  expect(problem).toBe(
    fits
      ? undefined
      : 'needs @scope/some-peer 0.27.0 or later, and 0.26.3 is installed: run npm install @scope/some-peer@0.27.0',
  )
})

test('an absent package is told from one that is too old', () => {
  install('old-peer', '0.14.67')
  const old = { name: 'old-peer', from: '1.8.0' }
  expect(findPeerProblem(old, { isLoaded: false, base })).toBe(
    'needs old-peer 1.8.0 or later, and 0.14.67 is installed: run npm install old-peer@1.8.0',
  )
  const absent = { name: 'absent-peer', from: '1.8.0' }
  expect(findPeerProblem(absent, { isLoaded: false, base })).toBe(
    'needs the package absent-peer, which is not installed: run npm install absent-peer',
  )
})

test('a package that cannot be loaded says so', () => {
  install('broken-peer', '2.0.0')
  const peer = { name: 'broken-peer', from: '1.8.0' }
  expect(findPeerProblem(peer, { isLoaded: false, base })).toBe(
    'needs the package broken-peer, whose version 2.0.0 cannot be loaded here: leave it out of your bundle, or install it again',
  )
})

test.each([
  ['Dynamic require of "events" is not supported'],
  ['Cannot find package "pg-protocol" imported from pg'],
])(
  'a package inside a bundle that cannot run it gives the cause: %s',
  (words) => {
    const peer = { name: 'bundled-peer', from: '8.0.0' }
    const facts = { isLoaded: false, base: undefined, cause: new Error(words) }
    expect(findPeerProblem(peer, facts)).toBe(
      `needs the package bundled-peer, which cannot be loaded here (${words}): leave it out of your bundle, or install it again`,
    )
  },
)

test.each([
  ["Cannot find package 'bundled-peer' imported from /app/main.js"],
  ["Cannot find module 'bundled-peer'"],
  ['Could not resolve "bundled-peer" imported by "countersign"'],
  ['No such module "bundled-peer".'],
  ["Failed to resolve module specifier 'bundled-peer'"],
])('a package that a runtime does not find is not installed: %s', (words) => {
  const peer = { name: 'bundled-peer', from: '8.0.0' }
  const facts = { isLoaded: false, base: undefined, cause: new Error(words) }
  expect(findPeerProblem(peer, facts)).toBe(
    'needs the package bundled-peer, which is not installed: run npm install bundled-peer',
  )
})
