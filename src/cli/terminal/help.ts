import type { Command, CommandOptions } from './types.js'

/** Builds the list of all commands, which `--help` prints. */
export function overview(commands: readonly Command[]): string {
  const widest = Math.max(...commands.map(({ name }) => name.length))
  return [
    'Usage: npx countersign COMMAND [OPTIONS]',
    '',
    ...commands.map(
      ({ name, summary }) => `  ${name.padEnd(widest)}  ${summary}`,
    ),
    '',
    'npx countersign COMMAND --help explains a command.',
    'Exit codes: 0 fine, 1 something is wrong, 2 wrong use, 3 cannot reach a node or the database.',
  ].join('\n')
}

/** Builds the help of one command. */
export function helpOf(command: Command): string {
  const { name, summary, positionals, options, details, example } = command
  return [
    `Usage: npx countersign ${[name, positionals, '[OPTIONS]'].filter(Boolean).join(' ')}`,
    '',
    summary,
    '',
    ...linesOf(options),
    '',
    ...details,
    ...(details.length > 0 ? [''] : []),
    `Example: ${example}`,
  ].join('\n')
}

function linesOf(options: CommandOptions): string[] {
  const rows = Object.entries(options).map(
    ([name, { type, value, help }]) =>
      [
        type === 'string' ? `--${name} ${value ?? 'TEXT'}` : `--${name}`,
        help,
      ] as const,
  )
  const all = [...rows, ['--help', 'Print this.'] as const]
  const widest = Math.max(...all.map(([left]) => left.length))
  return all.map(([left, right]) => `  ${left.padEnd(widest)}  ${right}`)
}
