import { UsageError } from './errors.js'
import type { CommandOptions } from './types.js'

/** The option of every command that prints a result. */
export const jsonOption: CommandOptions = {
  json: { type: 'boolean', help: 'Write JSON instead of text.' },
}

/** The options of every command that opens the shop. */
export const shopOptions: CommandOptions = {
  config: {
    type: 'string',
    value: 'FILE',
    help: 'The configuration. Default: countersign.config.mjs, .js or .ts here.',
  },
  ...jsonOption,
}

/** Parses the value of an option as an integer from 0. */
export function parseNumberOption(
  name: string,
  text: string | undefined,
): bigint | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,18}$/.test(text)) return BigInt(text)
  throw new UsageError(`--${name} must be a number such as 100.`)
}

/**
 * Parses the value of an option as a time: ISO 8601 or Unix seconds. Returns
 * Unix seconds.
 */
export function parseTimeOption(
  name: string,
  text: string | undefined,
): bigint | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,11}$/.test(text)) return BigInt(text)
  const milliseconds = Date.parse(text)
  if (/^\d{4}-/.test(text) && !Number.isNaN(milliseconds))
    return BigInt(Math.floor(milliseconds / 1000))
  throw new UsageError(
    `--${name} must be a time such as 2026-01-31, 2026-01-31T12:00:00Z or Unix seconds.`,
  )
}
