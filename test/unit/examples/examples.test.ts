import { readFileSync } from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import {
  compileExamples,
  documents,
  readExamples,
} from '../support/docExamples.js'

const fence = '```'
const brokenPage = `text
${fence}ts
import { parseAmount } from 'countersign'

parseAmount(12.5)
${fence}
${fence}ts
const payment = await nothing()
${fence}
${fence}ts
const x = 1
`
const brokenComment = `
/**
 * Parses.
 *
 * ${fence}ts
 * import { gone } from 'countersign'
 * ${fence}
 */
`

let problems: string[] = []
const published = documents().flatMap((file) =>
  readExamples(file, readFileSync(file, 'utf8')),
)

// One program for all: starting the compiler takes seconds.
beforeAll(() => {
  problems = compileExamples([
    ...published,
    ...readExamples('broken.md', brokenPage),
    ...readExamples('broken.ts', brokenComment),
  ])
})

test('every example in a doc comment, the README or a guide compiles', () => {
  expect(published.length).toBeGreaterThan(20)
  expect(problems.filter((problem) => !/^broken/.test(problem))).toEqual([])
})

test('an example that does not compile is reported by file and line', () => {
  const reported = problems.filter((problem) => /^broken/.test(problem))
  expect(reported).toEqual([
    expect.stringMatching(/^broken\.md:5: .*number.*string/),
    expect.stringMatching(/^broken\.md:8: .*nothing/),
    expect.stringMatching(/^broken\.md:10: no end/),
    expect.stringMatching(/^broken\.ts:6: .*gone/),
  ])
})
