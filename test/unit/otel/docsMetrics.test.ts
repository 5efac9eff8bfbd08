import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { metricTable } from '../../../src/otel/metricTable.js'
import { observedNames } from '../../../src/otel/observedNames.js'

const page = readFileSync('docs/alerts.md', 'utf8')
const [, metricsPart = ''] = page.split('\n## Metrics\n')

test('the page lists every metric as the table has it', () => {
  const rows = [...metricsPart.matchAll(/^\| `countersign\..*$/gm)].map(
    ([row]) => row,
  )
  const expected = Object.entries(metricTable).map(
    ([name, { kind, unit, labels, description }]) => {
      const named = labels.map((label) => ` \`${label}\``).join(',')
      return `| \`${name}\` | ${kind}, \`${unit}\` |${named} | ${description} |`
    },
  )
  expect(rows).toEqual(expected)
})

const [, observationsPart = ''] = metricsPart.split('\n### Observations\n')
const listed = [...observationsPart.matchAll(/^- (.*?): /gm)].flatMap(
  ([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
)

/** The names in the sources of what is observed without the table of methods. */
function namesInSource(): Set<string> {
  const texts = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.ts$/.test(file) && !/\.test\.ts$/.test(file))
    .filter((file) => !file.startsWith('otel'))
    .map((file) => readFileSync(`src/${file}`, 'utf8'))
  const form =
    /'((?:submitter|watch|schedule|channels|seal|x402|outbox|store|webhook)\.[a-zA-Z.]+)'/g
  const found = texts
    .flatMap((text) => text.split('\n'))
    .filter((line) => /\b(name|observed|observeFailure)\b/.test(line))
    .flatMap((line) => [...line.matchAll(form)].map(([, name = '']) => name))
  return new Set(found)
}

test('the page lists every observation of the sources', () => {
  const names = namesInSource()
  expect(names.size).toBeGreaterThan(15)
  expect(listed).toEqual(expect.arrayContaining([...names]))
})

test('what the page lists without a metric of its own starts at 0', () => {
  const own =
    /^orders\.|\.failed$|^webhook\.delivered$|^x402\.(answer|verify|settle)$|^submitter\.(sent|replaced|waits)$/
  expect(listed.filter((name = '') => !own.test(name)).sort()).toEqual(
    [...observedNames].sort(),
  )
})
