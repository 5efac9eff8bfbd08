import type { ParseArgsConfig } from 'node:util'

/** How a command ended. */
export type ExitCode =
  /** Nothing failed; there may be warnings. */
  | 0
  /** Something failed, or the command found a problem. */
  | 1
  /**
   * The command was called with wrong arguments, or the configuration is wrong.
   */
  | 2
  /** A node or a database cannot be reached. */
  | 3

/** Where a command reads from and writes to. */
export type CliIo = {
  stdin: AsyncIterable<string | Uint8Array>
  /**
   * Reads a line from the keyboard without showing it. Absent if `stdin` is not
   * a terminal.
   */
  readHidden?: (() => Promise<string>) | undefined
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
  env: Readonly<Record<string, string | undefined>>
  /** The folder that relative file names start from. */
  cwd: string
  /** True when `stdout` is a terminal and not a file or a pipe. */
  isTerminal: boolean
  /** True when `stderr` is a terminal. Progress is shown only there. */
  isErrorTerminal: boolean
  /**
   * The folder of the installed package, with its guides and `package.json`.
   */
  packageFolder: string
  /**
   * Resolves on Ctrl-C or SIGTERM. If a command does not call this, both
   * signals end the process at once.
   */
  untilInterrupted(): Promise<void>
  /** Imports the module at an absolute path. */
  load(path: string): Promise<unknown>
}

/** The options of a command, each with a line for `--help`. */
export type CommandOptions = Readonly<
  Record<
    string,
    NonNullable<ParseArgsConfig['options']>[string] & {
      help: string
      /** Placeholder for the value in `--help`, such as `FILE`. */
      value?: string | undefined
    }
  >
>

/** The parsed arguments of a command. */
export type CommandInput = {
  io: CliIo
  positionals: readonly string[]
  /** Returns the value of an option that takes one. */
  text(name: string): string | undefined
  /** Returns true when an option without a value was given. */
  flag(name: string): boolean
  /**
   * Lets an argument be printed that looks like a private key, because the
   * record has an order or a transaction of this name.
   */
  reveal(argument: string): void
}

export type Command = {
  name: string
  /** One line about the command for the list of commands. */
  summary: string
  /** The positional arguments as `--help` shows them, such as `[FILE]`. */
  positionals: string
  /** Most positional arguments that the command accepts. */
  mostPositionals: number
  options: CommandOptions
  /** Paragraphs that `--help` prints after the options. */
  details: readonly string[]
  example: string
  run(input: CommandInput): Promise<ExitCode>
}
