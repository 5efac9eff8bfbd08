import type { ParseArgsConfig } from 'node:util'

/** How a command ended. */
export type ExitCode =
  /** Everything is fine. There may be warnings. */
  | 0
  /** Something is wrong. */
  | 1
  /** Wrong use: an argument, or the configuration. */
  | 2
  /** A node or a database cannot be reached. */
  | 3

/** Where a command reads and writes. */
export type CliIo = {
  stdin: AsyncIterable<string | Uint8Array>
  /**
   * Reads a line from the keyboard without showing it. Absent if `stdin` is no
   * terminal.
   */
  readHidden?: (() => Promise<string>) | undefined
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  env: Readonly<Record<string, string | undefined>>
  /** The folder that file names are relative to. */
  cwd: string
  /** True when people read `stdout`. */
  isTerminal: boolean
  /** True when people read `stderr`, where progress is shown. */
  isErrorTerminal: boolean
  /** The folder of this package. */
  packageFolder: string
  /** Resolves when the user interrupts. Until then the command goes on. */
  untilInterrupted(): Promise<void>
  /** Imports the module of an absolute path. */
  load(path: string): Promise<unknown>
}

/** The options of a command, each with a line for `--help`. */
export type CommandOptions = Readonly<
  Record<
    string,
    NonNullable<ParseArgsConfig['options']>[string] & {
      help: string
      /** What to write for the value, such as `FILE`. */
      value?: string | undefined
    }
  >
>

/** What a command was called with. */
export type CommandInput = {
  io: CliIo
  positionals: readonly string[]
  /** Returns the value of an option that takes one. */
  text(name: string): string | undefined
  /** Returns true when an option without a value was given. */
  flag(name: string): boolean
}

/** One command. */
export type Command = {
  name: string
  /** One line for the list of commands. */
  summary: string
  /** The positional arguments, such as `[FILE]`. */
  positionals: string
  /** Most positional arguments. */
  mostPositionals: number
  options: CommandOptions
  /** What `--help` says after the options. */
  details: readonly string[]
  example: string
  run(input: CommandInput): Promise<ExitCode>
}
