import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import process from 'node:process'
import { redact } from '../../core/redact.js'
import type { CreateOrdersParameters } from '../../orders/index.js'
import { ConfigError, UsageError } from './errors.js'
import type { CliIo } from './types.js'

const names = [
  'countersign.config.mjs',
  'countersign.config.js',
  'countersign.config.ts',
]

/**
 * Loads the parameters of `createOrders`, which the configuration file exports
 * as its default.
 *
 * @throws {@link UsageError} when there is no such file.
 * @throws {@link ConfigError} when it does not load, or exports something else.
 */
export async function loadConfig(
  io: CliIo,
  given: string | undefined,
): Promise<CreateOrdersParameters> {
  const path = findConfig(io, given)
  const name = basename(path)
  const loaded = await io.load(path).catch((error: unknown) => {
    throw new ConfigError(describeFault(name, error))
  })
  const parameters: unknown = Object(loaded).default
  if (!isParameters(parameters))
    throw new ConfigError(
      `${name} must export the parameters of createOrders as its default: an object with store, seal, tokens and wallets.`,
    )
  return parameters
}

function findConfig({ cwd }: CliIo, given: string | undefined): string {
  const wanted = given === undefined ? names : [given]
  const found = wanted
    .map((name) => resolve(cwd, name))
    .find((path) => existsSync(path))
  if (found) return found
  throw new UsageError(
    given === undefined
      ? `There is no ${names.join(', ')} in ${cwd}: write one that exports the parameters of createOrders, or name it with --config.`
      : `There is no file ${given}.`,
  )
}

function isParameters(value: unknown): value is CreateOrdersParameters {
  const { store, tokens, wallets } = Object(value)
  return Boolean(store) && Array.isArray(tokens) && Array.isArray(wallets)
}

/**
 * Says why a configuration does not load and what to do, without secrets from
 * it.
 */
function describeFault(name: string, error: unknown): string {
  const { code, message } = Object(error)
  const words = redact(typeof message === 'string' ? message : 'unknown error')
  const isTypeScript = /\.ts$/.test(name)
  if (code === 'ERR_UNKNOWN_FILE_EXTENSION')
    return `Node ${process.versions.node} does not run ${name} by itself: use Node 22.18 or later, or set NODE_OPTIONS="--import tsx" (npm install --save-dev tsx), or write countersign.config.mjs.`
  const missing = /Cannot find (?:module|package) '([^']+)'/.exec(`${message}`)
  if (missing?.[1] && isTypeScript)
    return `${name} does not load: it imports ${basename(missing[1])}, which is not there. If that is a TypeScript file, set NODE_OPTIONS="--import tsx".`
  return `${name} does not load: ${words}`
}
