import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const guides = readdirSync('docs')
  .filter((file) => /\.md$/.test(file))
  .map((file) => `docs/${file}`)

const site: {
  projectDocuments: string[]
  readme: string
  highlightLanguages: string[]
} = JSON.parse(readFileSync('typedoc.json', 'utf8'))

test('the site lists every guide', () => {
  expect([site.readme, ...site.projectDocuments]).toEqual(
    expect.arrayContaining(guides),
  )
})

test.each(guides)('the site can highlight the code of %s', (guide) => {
  const fences = readFileSync(guide, 'utf8').matchAll(/^```(\w+)/gm)
  const languages = new Set(
    [...fences].map(([, name]) => (name === 'ts' ? 'typescript' : name)),
  )
  expect(site.highlightLanguages).toEqual(
    expect.arrayContaining([...languages]),
  )
})
