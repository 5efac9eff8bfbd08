import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const root = new URL('../../../', import.meta.url)
const page = readFileSync(new URL('CONTRIBUTING.md', root), 'utf8')

test('every path that CONTRIBUTING.md names exists', () => {
  const paths = [
    ...page.matchAll(
      /(?<![\w/])(?:src|test|scripts|docs|examples|bench)\/[\w./-]*[\w]/g,
    ),
  ].map(([path]) => path)

  expect(paths.length).toBeGreaterThan(15)
  expect(paths.filter((path) => !existsSync(new URL(path, root)))).toEqual([])
})

test('every folder in the tree of CONTRIBUTING.md exists', () => {
  const tree = page.split('```text\nsrc/\n')[1]?.split('```')[0] ?? ''
  let part = ''
  const folders = tree.split('\n').flatMap((line) => {
    const [, indent = '', name] = /^( +)(\w+)\/ /.exec(line) ?? []
    if (!name) return []
    if (indent.length > 2) return [`src/${part}/${name}`]
    part = name
    return [`src/${name}`]
  })

  expect(folders.length).toBeGreaterThan(25)
  expect(folders.filter((it) => !existsSync(new URL(it, root)))).toEqual([])
})

test('the tables of allowed imports are those that are checked', async () => {
  const { href } = new URL('.dependency-cruiser.js', root)
  const { forbidden } = (await import(href)).default
  const checked = forbidden
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => / imports /.test(name))
  const rows = [...page.matchAll(/^\| `([\w/]+)` \| (.+) \|$/gm)]
    .filter(([, , allowed = '']) =>
      /^(`[\w/]+`(, )?|no other \w+)+$/.test(allowed),
    )
    .map(([, name, allowed]) =>
      `${name} imports ${allowed}`.replaceAll('`', ''),
    )

  expect(rows).toEqual(checked)
})
