import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from './errors.js'
import type { CliIo } from './types.js'

/**
 * Most characters of the input. Even a receipt with thousands of logs is
 * shorter.
 */
const mostCharacters = 10_000_000

/**
 * Reads a file. Reads standard input if the name is `-` or absent.
 *
 * @throws {@link UsageError} when there is nothing to read.
 */
export async function readInput(
  io: CliIo,
  name: string | undefined,
): Promise<string> {
  const text =
    name === undefined || name === '-'
      ? await readAll(io.stdin)
      : await readFile(resolve(io.cwd, name), 'utf8').catch(() => {
          throw new UsageError(`There is no readable file ${name}.`)
        })
  if (text.trim() === '')
    throw new UsageError('There is nothing to read: pass a file, or pipe it.')
  return text.trim()
}

async function readAll(
  stream: AsyncIterable<string | Uint8Array>,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) {
    text +=
      typeof chunk === 'string'
        ? chunk
        : decoder.decode(chunk, { stream: true })
    if (text.length > mostCharacters)
      throw new UsageError('The input is longer than 10 million characters.')
  }
  return text
}
