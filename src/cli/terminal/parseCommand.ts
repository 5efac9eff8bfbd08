import { type ParseArgsConfig, parseArgs } from 'node:util'
import { redact } from '../../core/redact.js'
import { UsageError } from './errors.js'
import type { CliIo, Command, CommandInput } from './types.js'

/**
 * Parses the arguments of a command.
 *
 * @throws {@link UsageError} when an option is unknown or has no value, or there
 * are too many arguments.
 */
export function parseCommand(
  command: Command,
  args: readonly string[],
  io: CliIo,
): Omit<CommandInput, 'reveal'> {
  const options: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
    Object.entries(command.options).map(([name, { type }]) => [name, { type }]),
  )
  const parsed = parse(command, args, options)
  const { positionals } = parsed
  const values: Readonly<Record<string, unknown>> = parsed.values
  const { mostPositionals } = command
  if (positionals.length > mostPositionals)
    throw new UsageError(
      mostPositionals === 0
        ? `${command.name} takes options only.`
        : `${command.name} takes at most ${mostPositionals}: ${command.positionals}.`,
    )
  return {
    io,
    positionals,
    text: (name) => {
      const value = values[name]
      return typeof value === 'string' ? value : undefined
    },
    flag: (name) => values[name] === true,
  }
}

function parse(
  { name }: Command,
  args: readonly string[],
  options: NonNullable<ParseArgsConfig['options']>,
) {
  try {
    return parseArgs({
      args: [...args],
      options: { ...options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
      strict: true,
    })
  } catch (error) {
    // Takes the first sentence of Node's message, which names the mistake. The
    // rest explains how to escape arguments.
    const [words = ''] = redact(String(Object(error).message)).split(/\.\s/)
    throw new UsageError(
      `${words.replace(/\.$/, '')}: npx countersign ${name} --help lists the options.`,
    )
  }
}
