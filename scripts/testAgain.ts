/**
 * Runs test files again and again beside busy processes, and prints how often
 * each test failed.
 *
 *     npm run test:again -- test/chain/sql/leases.test.ts --times 50 --load 4
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

const { positionals: files, values } = parseArgs({
  allowPositionals: true,
  options: {
    times: { type: 'string', default: '10' },
    load: { type: 'string', default: '0' },
  },
})
const times = parseCount(values.times, '--times', 1)
const load = parseCount(values.load, '--load', 0)
if (files.length === 0) fail('Name the test files to run.')

type Failures = { count: number; words: string }

const folder = mkdtempSync(join(tmpdir(), 'countersign-again-'))
const busy = Array.from({ length: load }, startBusyProcess)
const failures = new Map<string, Failures>()
let broken = 0
try {
  for (let run = 1; run <= times; run++) {
    const began = performance.now()
    const failed = runOnce(run)
    const seconds = Math.round((performance.now() - began) / 1_000)
    console.log(`${run} of ${times}: ${failed} failed, ${seconds} s`)
  }
} finally {
  for (const one of busy) one.kill()
  rmSync(folder, { recursive: true, force: true })
}
for (const [name, { count, words }] of failures)
  console.log(`\n${count} of ${times}: ${name}\n${words}`)
console.log(
  `\n${failures.size} tests failed at least once in ${times} runs at load ${load}; ${broken} runs ended without a report.`,
)
if (failures.size > 0 || broken > 0) process.exitCode = 1

/** Runs the files once. Returns how many tests failed. */
function runOnce(run: number): number {
  const report = join(folder, `${run}.json`)
  const { stderr } = spawnSync(
    join(root, 'node_modules/.bin/vitest'),
    ['run', '--reporter', 'json', '--outputFile', report, ...files],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const failed = readFailed(report)
  if (!failed) {
    broken += 1
    console.error(stderr.trim())
    return 0
  }
  for (const { name, words } of failed) {
    const before = failures.get(name)?.count ?? 0
    failures.set(name, { count: before + 1, words })
  }
  return failed.length
}

type Report = {
  numTotalTests: number
  testResults: {
    name: string
    status: string
    message: string
    assertionResults: {
      fullName: string
      status: string
      failureMessages: string[]
    }[]
  }[]
}

/** `undefined` if the runner wrote no report, or ran no test. */
function readFailed(
  report: string,
): readonly { name: string; words: string }[] | undefined {
  let results: Report
  try {
    results = JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return undefined
  }
  if (results.numTotalTests === 0) return undefined
  return results.testResults.flatMap(
    ({ name, status, message, assertionResults }) => {
      const failed = assertionResults
        .filter((test) => test.status === 'failed')
        .map(({ fullName, failureMessages }) => ({
          name: `${name.slice(root.length)}: ${fullName}`,
          words: failureMessages.join('\n').slice(0, 2_000),
        }))
      // A file that does not load has no test that failed.
      return status === 'failed' && failed.length === 0
        ? [{ name: name.slice(root.length), words: message }]
        : failed
    },
  )
}

function startBusyProcess(): ChildProcess {
  return spawn(process.execPath, ['--eval', 'for (;;);'], { stdio: 'ignore' })
}

function parseCount(text: string, flag: string, least: number): number {
  const count = Number(text)
  if (Number.isSafeInteger(count) && count >= least) return count
  return fail(`${flag} must be an integer of ${least} or more, not "${text}".`)
}

function fail(message: string): never {
  console.error(message)
  process.exit(2)
}
