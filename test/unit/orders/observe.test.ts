import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Meter, metrics } from '@opentelemetry/api'
import type { Observation } from 'countersign/orders'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { readExamples } from '../support/docExamples.js'

const page = 'docs/alerts.md'

/** The lines of the page as a module, next to the packages they import. */
async function loadExample(): Promise<{
  observeWith(meter?: Meter): (observation: Observation) => void
}> {
  const example = readExamples(page, readFileSync(page, 'utf8')).find(
    ({ code }) => code.includes('observeWith'),
  )
  const folder = join(process.cwd(), 'node_modules', '.countersign')
  const path = join(folder, 'observe.mjs')
  const { outputText } = ts.transpileModule(example?.code ?? '', {
    compilerOptions: {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
    },
  })
  mkdirSync(folder, { recursive: true })
  writeFileSync(path, outputText)
  return import(pathToFileURL(path).href)
}

test('the lines of the page feed what is observed to OpenTelemetry', async () => {
  const { observeWith } = await loadExample()
  const told: unknown[] = []
  const write =
    (kind: string) =>
    (name: string): unknown => {
      const tell = (value: number, attributes: unknown) =>
        told.push([kind, name, value, attributes])
      return { add: tell, record: tell }
    }
  // Stands in for an SDK: only these two of its instruments are used.
  const fakeMeter = {
    createCounter: write('counter'),
    createHistogram: write('histogram'),
  } as unknown as Meter
  metrics.setGlobalMeterProvider({ getMeter: () => fakeMeter })

  const observe = observeWith()
  observe({
    name: 'submitter.waits',
    attributes: { reason: 'insufficientFunds' },
  })
  observe({ name: 'accept', duration: 12, attributes: { ok: true } })

  expect(told).toEqual([
    ['counter', 'submitter.waits', 1, { reason: 'insufficientFunds' }],
    ['histogram', 'accept', 12, { ok: true }],
  ])
})
