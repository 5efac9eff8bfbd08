import { appendFileSync } from 'node:fs'
import process from 'node:process'
import type { Reporter, TestModule } from 'vitest/node'

/**
 * Lists, before the runner's summary, the tests that passed only when they
 * were run again, and adds them to the summary of a workflow on GitHub.
 *
 * Each is mended at its cause, or moved to `test/thorough` with the reason.
 */
export class FlakyReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const flaky = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky)
        .map((test) => `${module.relativeModuleId}: ${test.fullName}`),
    )
    if (flaky.length === 0) {
      console.log('\nflaky: none')
      return
    }
    const list = flaky.map((name) => `- ${name}`).join('\n')
    console.log(`\nflaky:\n${list}`)
    const summary = process.env.GITHUB_STEP_SUMMARY
    if (summary) appendFileSync(summary, `\n## flaky\n\n${list}\n`)
  }
}
