import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { FileReport, Run } from './types.js'

type RunParameters = {
  root: string
  /** Has the instrumented sources; takes the reports. */
  folder: string
  /** The runner's own arguments: a command, flags and files. */
  args: readonly string[]
  /** Switched on. By default none is. */
  mutant?: string | undefined
  limitSeconds: number
}

/** The runner's JSON report, as far as it is read. */
type Report = {
  success: boolean
  testResults: readonly {
    name: string
    status: string
    message: string
    startTime: number
    endTime: number
    assertionResults: readonly {
      status: string
      fullName: string
      failureMessages: readonly string[]
    }[]
  }[]
}

let reports = 0

const running = new Set<number>()

/** Runs tests once in processes of their own, and leaves none of them behind. */
export async function runTests({
  root,
  folder,
  args,
  mutant,
  limitSeconds,
}: RunParameters): Promise<Run> {
  const report = join(folder, `report-${reports++}.json`)
  const child = spawn(
    join(root, 'node_modules/.bin/vitest'),
    [
      ...args,
      '--run',
      '--config',
      'test/mutants/vitest.config.ts',
      '--reporter',
      'json',
      '--outputFile',
      report,
    ],
    {
      cwd: root,
      // A group of its own ends together with what the tests started.
      detached: true,
      stdio: 'ignore',
      env: {
        ...process.env,
        COUNTERSIGN_MUTANTS: folder,
        ...(mutant && { __STRYKER_ACTIVE_MUTANT__: mutant }),
      },
    },
  )
  const group = child.pid
  if (group === undefined) throw new Error('Could not start vitest.')
  running.add(group)
  const limit = setTimeout(() => killGroup(group), limitSeconds * 1_000)
  await once(child, 'exit')
  clearTimeout(limit)
  killGroup(group)
  running.delete(group)
  return readReport(report, root)
}

/** Ends all runs, for a program that ends early. */
export function endRuns(): void {
  for (const group of running) killGroup(group)
}

function readReport(path: string, root: string): Run {
  if (!existsSync(path)) return { end: 'noReport' }
  const report: Report = JSON.parse(readFileSync(path, 'utf8'))
  if (report.testResults.length === 0) throw new Error('No test file ran.')
  const failed = report.testResults.find(({ status }) => status !== 'passed')
  if (failed || !report.success)
    return { end: 'failed', words: failed ? wordsOf(failed) : 'Unknown error.' }
  return {
    end: 'passed',
    files: report.testResults.map(
      (result): FileReport => ({
        file: result.name.slice(root.length),
        passed: result.assertionResults.filter(
          ({ status }) => status === 'passed',
        ).length,
        seconds: (result.endTime - result.startTime) / 1_000,
      }),
    ),
  }
}

function wordsOf({
  name,
  message,
  assertionResults,
}: Report['testResults'][number]): string {
  const test = assertionResults.find(({ status }) => status === 'failed')
  return test
    ? `${name}: ${test.fullName}\n${test.failureMessages.join('\n')}`
    : `${name} did not load: ${message}`
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // All of its processes have ended.
  }
}
