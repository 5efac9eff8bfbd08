import type { CliIo } from './types.js'

const width = 30

/**
 * Shows a progress bar on standard error. Shows nothing if that is not a
 * terminal.
 */
export function openProgress(io: CliIo): {
  /** Shows how much is done, from 0 to 1. */
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

/**
 * Most characters of a status text. A longer line would wrap in a terminal of
 * 80 columns, and could not be overwritten.
 */
const longestStatus = 78

/**
 * Shows on one line of standard error what a command waits for. Shows nothing
 * if that is not a terminal.
 */
export function openStatus(io: CliIo): {
  /** Replaces the text on the line. */
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
