import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(
  (path) => /\.ts$/.test(path) && !/\.test\.ts$/.test(path),
)

const declaration =
  /^export (?:async )?(?:abstract )?(?:const|function\*?|class|type|interface) (\w+)/gm

test('no two files of src declare the same exported name', () => {
  const places = new Map<string, string[]>()
  for (const file of files)
    for (const [, name = ''] of readFileSync(`src/${file}`, 'utf8').matchAll(
      declaration,
    ))
      places.set(name, [...new Set([...(places.get(name) ?? []), file])])
  expect(places.size).toBeGreaterThan(1_000)
  expect([...places].filter(([, found]) => found.length > 1)).toEqual([])
})
