import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** systemd names the folder; containers have their secrets in the other one. */
const { CREDENTIALS_DIRECTORY: folder = '/run/secrets' } = process.env

/** Reads a secret; `undefined` if this process was not given it. */
export function readSecret(name: string): string | undefined {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined
}

/** Reads a secret without which the process cannot work. */
export function needSecret(name: string): string {
  const secret = readSecret(name)
  if (!secret) throw new Error(`There is no secret ${name} in ${folder}.`)
  return secret
}
