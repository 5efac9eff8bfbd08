import type { CliIo } from './types.js'

const width = 30

/** A progress bar on standard error, if that is a terminal; otherwise nothing. */
export function openProgress(io: CliIo): {
  /** Shows a share from 0 to 1. */
  show(share: number): void
  /** Removes the bar. */
  end(): void
} {
  if (!io.isErrorTerminal)
    return { show: () => undefined, end: () => undefined }
  return {
    show: (share) => {
      const filled = Math.round(share * width)
      const bar = '█'.repeat(filled) + '░'.repeat(width - filled)
      io.stderr.write(`\r${bar} ${Math.floor(share * 100)} %`)
    },
    end: () => {
      io.stderr.write(`\r${' '.repeat(width + 6)}\r`)
    },
  }
}

/** Longest text of a status. */
const longestStatus = 78

/**
 * A line on standard error that says what a command waits for, if that is a
 * terminal; otherwise nothing.
 */
export function openStatus(io: CliIo): {
  /** Shows a text in place of the last one. */
  show(text: string): void
  /** Removes the line. */
  end(): void
} {
  if (!io.isErrorTerminal)
    return { show: () => undefined, end: () => undefined }
  return {
    show: (text) => {
      const line = text.slice(0, longestStatus).padEnd(longestStatus)
      io.stderr.write(`\r${line}`)
    },
    end: () => {
      io.stderr.write(`\r${' '.repeat(longestStatus)}\r`)
    },
  }
}
