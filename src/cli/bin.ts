import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runCli } from './runCli.js'
import { describeFailure } from './terminal/describeFailure.js'
import { readHiddenLine } from './terminal/readHiddenLine.js'

let end: (() => void) | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => (end ? end() : process.exit(130)))

// A late error of the configuration must not print a stack trace, which can
// hold keys.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error: unknown) => {
    process.stderr.write(`${describeFailure(error).text}\n`)
    process.exit(1)
  })

// A reader such as `head` may leave early.
process.stdout.on('error', () => process.exit(0))

const code = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  readHidden: process.stdin.isTTY === true ? readHiddenLine : undefined,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  isTerminal: process.stdout.isTTY === true,
  isErrorTerminal: process.stderr.isTTY === true,
  // Right from the sources and from the build.
  packageFolder: fileURLToPath(new URL('../..', import.meta.url)),
  untilInterrupted: () =>
    new Promise((resolve) => {
      end = resolve
    }),
  load: (path) => import(pathToFileURL(path).href),
})

/**
 * Ends the process, because clients and pools of the configuration would keep it
 * alive. An export, because bundlers leave out modules without any.
 */
export const ended: boolean = process.stdout.write('', () => process.exit(code))
