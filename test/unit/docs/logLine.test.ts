import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { readExamples } from '../support/docExamples.js'

const page = 'docs/errors.md'
const [example] = readExamples(page, readFileSync(page, 'utf8')).filter(
  ({ code }) => code.startsWith('// logLine.ts'),
)

/** The function as the guide has it. */
async function load(): Promise<(value: unknown) => string> {
  const { outputText } = ts.transpileModule(example?.code ?? '', {
    compilerOptions: { module: ts.ModuleKind.ESNext },
  })
  const url = `data:text/javascript,${encodeURIComponent(outputText)}`
  return (await import(/* @vite-ignore */ url)).logLine
}

test('the guide writes verdicts and outcomes as one line of JSON', async () => {
  const logLine = await load()
  const verdict = {
    ok: false,
    reason: 'expired',
    details: { validBefore: 9n },
    at: { block: 7n, timestamp: 8n },
  }
  const outcome = { status: 'unknown', searchedFrom: 10n }
  expect([verdict, outcome].map(logLine)).toEqual([
    '{"ok":false,"reason":"expired","details":{"validBefore":"9"},"at":{"block":"7","timestamp":"8"}}',
    '{"status":"unknown","searchedFrom":"10"}',
  ])
})
