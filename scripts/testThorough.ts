/**
 * Runs what is too long or too dependent on the machine for `npm test`: the
 * build for Node, the runtimes, the installs, and the files of `test/thorough`.
 *
 *     npm run test:thorough
 *     npm run test:thorough -- --shard 1/4
 *
 * A shard runs one part of the files, and those of the other programs that
 * fall to it, so that shards can run on machines of their own.
 */
import { spawnSync } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

const { values } = parseArgs({ options: { shard: { type: 'string' } } })
const { shard, count } = parseShard(values.shard ?? '1/1')

const programs = [
  'test/package/playNodeBuild.ts',
  'test/runtimes/testRuntimes.ts',
  'test/installs/testInstalls.ts',
].filter((_, index) => index % count === shard - 1)

let failed = 0
run('npm', ['run', 'build'])
if (failed === 0) {
  for (const program of programs) run('npx', ['tsx', program])
  run('npx', [
    'vitest',
    'run',
    '--project',
    'thorough',
    '--shard',
    `${shard}/${count}`,
  ])
}
if (failed > 0) process.exitCode = 1

/** One that fails stops no other, so that a long run tells all it can. */
function run(command: string, words: readonly string[]): void {
  const { status } = spawnSync(command, words, { cwd: root, stdio: 'inherit' })
  if (status === 0) return
  failed += 1
  console.error(`${[command, ...words].join(' ')} failed.`)
}

function parseShard(text: string): { shard: number; count: number } {
  const [, shard, count] = /^(\d+)\/(\d+)$/.exec(text)?.map(Number) ?? []
  if (shard && count && shard <= count) return { shard, count }
  console.error(`--shard must be like 1/4, not "${text}".`)
  process.exit(2)
}
