import type { CliIo } from './types.js'

const width = 30

/**
 * Shows a progress bar on standard error if that is a terminal, else nothing.
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
 * Characters of a status. A longer line would wrap in a terminal of 80 columns,
 * and could not be overwritten.
 */
const longestStatus = 78

/**
 * Shows on standard error what a command waits for, on one line, if that is a
 * terminal; else nothing.
 */
export function openStatus(io: CliIo): {
  /** Replaces the text that is shown. */
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
