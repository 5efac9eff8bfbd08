import { readdirSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { expect, test } from 'vitest'

const order =
  'base rpc logs reads build sign verify capture store tables engines sql records ledger lanes sends drive forks reconcile watch draft accept cancel orders schemas streams routes http targets webhooks sequencer emulation devchain testing entries'
const layers = order.split(' ')
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((path) => path.replaceAll('\\', '/'))
  .filter((path) => /\.ts$/.test(path) && !/\.test(-d)?\.ts$/.test(path))

/** Files under `src` that a file imports or exports from. */
function importsOf(file: string, kind: 'all' | 'value'): string[] {
  const statements = readFileSync(`src/${file}`, 'utf8').matchAll(
    /^(?:import|export)\b(?<names>[^'"]*?)(?:\bfrom\s*)?'(?<path>\.[^']+)'/gm,
  )
  return [...statements].flatMap(
    ({ groups: { names = '', path = '' } = {} }) => {
      const bare = names.replace(/\btype [\w$]+(?: as [\w$]+)?/g, '')
      const typeOnly =
        /^\s*type\b/.test(names) || (/\{/.test(names) && !/\w/.test(bare))
      return kind === 'value' && typeOnly
        ? []
        : [posix.join(posix.dirname(file), path).replace(/\.js$/, '.ts')]
    },
  )
}

const layerOf = (file: string): number =>
  layers.indexOf(file.split('/')[0] ?? '')

test('every file is in a folder of the house, contracts aside one deep', () => {
  const strange = files.filter(
    (file) =>
      layerOf(file) < 0 || !/^\w+\/(contracts\/)?[\w.]+\.ts$/.test(file),
  )
  expect(strange).toEqual([])
  expect(files.length).toBeGreaterThan(50)
})

test('a file imports only from its own folder or from folders to its left', () => {
  const upward = files.flatMap((file) =>
    importsOf(file, 'all')
      .filter(
        (target) => layerOf(target) > layerOf(file) || layerOf(target) < 0,
      )
      .map((target) => `${file} imports ${target}`),
  )
  expect(upward).toEqual([])
})

test('every import leads to a file that is there', () => {
  const targets = files.flatMap((file) => importsOf(file, 'all'))
  expect(targets.length).toBeGreaterThan(100)
  expect(targets.filter((target) => !files.includes(target))).toEqual([])
})

test('no file needs itself to be loaded', () => {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) circles.push([...trail, file].join(' → '))
    if (trail.includes(file) || done.has(file)) return
    for (const target of importsOf(file, 'value'))
      visit(target, [...trail, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  expect(circles).toEqual([])
})
