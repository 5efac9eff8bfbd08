import process from 'node:process'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runCli } from './runCli.js'
import { describeFailure } from './terminal/describeFailure.js'
import { createKeyFilter } from './terminal/hideSecrets.js'
import { readHiddenLine } from './terminal/readHiddenLine.js'

let end: (() => void) | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => (end ? end() : process.exit(130)))

const args = process.argv.slice(2)
const keys = createKeyFilter(args)

// Code of the configuration can fail after the command has begun. Such an error
// must not print a stack trace, whose source lines can contain keys.
for (const event of ['uncaughtException', 'unhandledRejection'])
  process.on(event, (error: unknown) => {
    process.stderr.write(`${keys.hide(describeFailure(error).text)}\n`)
    process.exit(1)
  })

// `npx countersign … | head` closes the pipe early, which is no error.
process.stdout.on('error', () => process.exit(0))

const code = await runCli(args, {
  stdin: process.stdin,
  readHidden: process.stdin.isTTY === true ? readHiddenLine : undefined,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  isTerminal: process.stdout.isTTY === true,
  isErrorTerminal: process.stderr.isTTY === true,
  // The package folder is two levels up, both from `src/cli` and from the built
  // file.
  packageFolder: fileURLToPath(new URL('../..', import.meta.url)),
  untilInterrupted: () =>
    new Promise((resolve) => {
      end = resolve
    }),
  load: (path) => import(pathToFileURL(path).href),
})

/**
 * Ends the process, which open clients and database pools of the configuration
 * would keep alive. Exported, because bundlers leave out modules that export
 * nothing.
 */
export const ended: boolean = process.stdout.write('', () => process.exit(code))
