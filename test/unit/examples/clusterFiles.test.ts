import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const cluster = 'examples/cluster'
const textOf = (...path: string[]) =>
  readFileSync(join(cluster, ...path), 'utf8')

const wanted = readdirSync(join(cluster, 'files')).flatMap((name) =>
  [...textOf('files', name).matchAll(/\$\{(\w+)\}/g)].map(
    ([, key = '']) => [name, key] as const,
  ),
)
const containers = textOf('compose.yaml')
const programs = readdirSync(join(cluster, 'machine'))
  .map((name) => textOf('machine', name))
  .join('\n')

test.each(wanted)(
  '%s gets its %s from the containers and from the program',
  (_, key) => {
    // start.sh is told its own folder.
    if (key === 'RUN') return
    expect(containers).toMatch(new RegExp(`^\\s+${key}:`, 'm'))
    expect(programs).toMatch(new RegExp(`\\b${key}(:|,)`))
  },
)
