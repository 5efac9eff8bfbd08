import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { metricTable } from '../../../src/otel/metricTable.js'

const folder = 'examples/monitoring'
const readText = (file: string) => readFileSync(join(folder, file), 'utf8')
const page = readFileSync('docs/alerts.md', 'utf8')

type Alert = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; docs: string }
}

type Panel = {
  id: number
  title: string
  gridPos: { x: number; y: number; w: number; h: number }
  targets?: { expr: string }[]
}

const alerts: Alert[] = parse(readText('rules.yml')).groups.flatMap(
  ({ rules }: { rules: Alert[] }) => rules,
)
const panels: Panel[] = JSON.parse(readText('dashboard.json')).panels
const asked = [
  ...alerts.map(({ expr }) => expr),
  ...panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
]

/** Names and labels as Prometheus has them. */
const wordOf = (name: string) => name.replace(/\W/g, '_')
const labelsOf = new Map<string, readonly string[]>()
for (const [name, { kind, labels }] of Object.entries(metricTable)) {
  const words = [...labels.map(wordOf), 'instance', 'le']
  const endings = {
    counter: ['_total'],
    gauge: [''],
    histogram: ['_bucket', '_count', '_sum'],
  }
  for (const ending of endings[kind]) labelsOf.set(wordOf(name) + ending, words)
}

test('rules and dashboard ask only for metrics of the table, by their labels', () => {
  for (const expr of asked) {
    const names = expr.match(/\b(countersign_\w+|up)\b(?=[{)[ ]|$)(?![^{]*=)/g)
    const used = [...expr.matchAll(/\bcountersign_[a-z_]+/g)].map(([it]) => it)
    const metrics = used.filter((name) => labelsOf.has(name))
    if (!expr.includes('up{')) expect(metrics.length, expr).toBeGreaterThan(0)
    const known = new Set(metrics.flatMap((name) => labelsOf.get(name) ?? []))
    const labels = used.filter((name) => !labelsOf.has(name))
    expect([...known], `${expr} ${names}`).toEqual(
      expect.arrayContaining(labels),
    )
  }
})

test('an alert names a section of the page, which names the alert', () => {
  const sections = new Map(
    page
      .split(/\n(?=#{2,3} )/)
      .slice(1)
      .map((text) => {
        const heading = text.split('\n')[0]?.replace(/^#+ /, '') ?? ''
        const anchor = heading.toLowerCase().replace(/\W+/g, '-')
        return [`docs/alerts.md#${anchor}`, text]
      }),
  )
  for (const { alert, annotations } of alerts)
    expect(sections.get(annotations.docs), alert).toContain(`\`${alert}\``)
})

test('the page names no alert that there is not', () => {
  const named = [...page.matchAll(/`(Countersign[A-Z]\w+)`/g)].map(
    ([, it]) => it,
  )
  expect(new Set(named)).toEqual(new Set(alerts.map(({ alert }) => alert)))
})

test('the panels of the dashboard have names and places of their own', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from(
      { length: w * h },
      (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`,
    ),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
})

const promtool = (...words: string[]) =>
  execFileSync('promtool', words, { encoding: 'utf8' })
const isMissing = spawnSync('promtool', ['--version']).error !== undefined
const whySkipped = 'promtool is not installed: the rules were not judged.'

test('promtool accepts the rules and the configuration', ({ skip }) => {
  if (isMissing) return skip(whySkipped)
  expect(promtool('check', 'rules', `${folder}/rules.yml`)).toContain(
    `${alerts.length} rules found`,
  )
  expect(promtool('check', 'config', `${folder}/prometheus.yml`)).toContain(
    'is valid',
  )
})

test('each alert rings when it should, and none when all is well', ({
  skip,
}) => {
  if (isMissing) return skip(whySkipped)
  expect(promtool('test', 'rules', `${folder}/rules.test.yml`)).toContain(
    'SUCCESS',
  )
  const { tests } = parse(readText('rules.test.yml'))
  const rung = tests
    .slice(0, -1)
    .flatMap(
      ({ alert_rule_test }: { alert_rule_test: { alertname: string }[] }) =>
        alert_rule_test.map(({ alertname }) => alertname),
    )
  expect(rung).toEqual(alerts.map(({ alert }) => alert))
})

test('promtool can read each question of the dashboard', ({ skip }) => {
  if (isMissing) return skip(whySkipped)
  const place = mkdtempSync(join(tmpdir(), 'countersign-rules-'))
  try {
    const rules = asked.map((expr, at) => ({
      record: `asked_${at}`,
      expr: expr.replaceAll('$__rate_interval', '1m'),
    }))
    const file = join(place, 'rules.yml')
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'asked', rules }] }))
    expect(promtool('check', 'rules', file)).toContain('SUCCESS')
  } finally {
    rmSync(place, { recursive: true })
  }
})
