import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { auditCommand } from './commands/audit.js'
import { dashboardCommand } from './commands/dashboard.js'
import { devCommand } from './commands/dev.js'
import { doctorCommand } from './commands/doctor.js'
import { eventsCommand } from './commands/events.js'
import { explainCommand } from './commands/explain.js'
import { healthCommand } from './commands/health.js'
import { initCommand } from './commands/init.js'
import { inspectCommand } from './commands/inspect.js'
import { ledgerCommand } from './commands/ledger.js'
import { migrateCommand } from './commands/migrate.js'
import { reconcileCommand } from './commands/reconcile.js'
import { recoverCommand } from './commands/recover.js'
import { resumeCommand, suspendCommand } from './commands/suspend.js'
import { describeFailure } from './terminal/describeFailure.js'
import { UsageError } from './terminal/errors.js'
import { helpOf, overview } from './terminal/help.js'
import { createKeyFilter, type KeyFilter } from './terminal/hideSecrets.js'
import { parseCommand } from './terminal/parseCommand.js'
import type { CliIo, Command, ExitCode } from './terminal/types.js'

/**
 * All commands, in the order in which `--help` shows them and a merchant needs
 * them.
 */
export const commands: readonly Command[] = [
  initCommand,
  devCommand,
  doctorCommand,
  dashboardCommand,
  healthCommand,
  inspectCommand,
  explainCommand,
  eventsCommand,
  ledgerCommand,
  auditCommand,
  reconcileCommand,
  recoverCommand,
  suspendCommand,
  resumeCommand,
  migrateCommand,
]

/**
 * Runs one command and returns its exit code. Never throws: a failure is
 * written to `stderr` as one sentence without a stack trace.
 */
export async function runCli(
  args: readonly string[],
  given: CliIo,
): Promise<ExitCode> {
  const keys = createKeyFilter(args)
  const { stdout, stderr } = given
  const io: CliIo = {
    ...given,
    stdout: { write: (text) => stdout.write(keys.hide(text)) },
    stderr: { write: (text) => stderr.write(keys.hide(text)) },
  }
  try {
    return await runCommand(args, io, keys)
  } catch (error) {
    const { text, code } = describeFailure(error)
    io.stderr.write(`${text}\n`)
    return code
  }
}

async function runCommand(
  [name, ...rest]: readonly string[],
  io: CliIo,
  { reveal }: KeyFilter,
): Promise<ExitCode> {
  if (name === '--version') {
    const text = await readFile(join(io.packageFolder, 'package.json'), 'utf8')
    io.stdout.write(`${JSON.parse(text).version}\n`)
    return 0
  }
  const isHelp = name === undefined || ['help', '--help', '-h'].includes(name)
  if (isHelp) {
    const out = name === undefined ? io.stderr : io.stdout
    out.write(`${overview(commands)}\n`)
    return name === undefined ? 2 : 0
  }
  const command = commands.find((one) => one.name === name)
  // The error does not repeat the unknown word, which may be a secret in the
  // wrong place.
  if (!command)
    throw new UsageError(
      'There is no such command: npx countersign --help lists them all.',
    )
  const input = { ...parseCommand(command, rest, io), reveal }
  if (input.flag('help')) {
    io.stdout.write(`${helpOf(command)}\n`)
    return 0
  }
  return command.run(input)
}
