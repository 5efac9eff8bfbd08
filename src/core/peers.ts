import type { readFileSync } from 'node:fs'
import type { createRequire } from 'node:module'
import { findOwnUrl } from './findOwnUrl.js'
import { redact } from './redact.js'

export type Peer = {
  name: string
  /** The oldest version with which the tests of this library pass. */
  from: string
}

class NotLoaded {
  readonly cause: unknown

  constructor(cause: unknown) {
    this.cause = cause
  }
}

/**
 * Turns a failed import of an optional package into a value. Write
 * `.catch(notLoaded)` directly behind `import()`: only there does a bundler
 * accept that the package is missing.
 */
export function notLoaded(cause: unknown): NotLoaded {
  return new NotLoaded(cause)
}

/**
 * Returns the module of an optional peer dependency.
 *
 * @throws the error that `fail` returns, when the package is missing or too
 * old.
 */
export async function loadPeer<module>(
  peer: Peer,
  loading: Promise<module | NotLoaded>,
  fail: (problem: string, cause: unknown) => Error,
): Promise<module> {
  const loaded = await loading
  const isLoaded = !(loaded instanceof NotLoaded)
  const base = await findOwnUrl()
  const cause = isLoaded ? undefined : loaded.cause
  const problem = findPeerProblem(peer, { isLoaded, base, cause })
  if (!isLoaded) throw fail(problem ?? absent(peer), cause)
  if (problem !== undefined) throw fail(problem, undefined)
  return loaded
}

/**
 * Finds out why an optional peer dependency cannot be used, after an attempt to
 * load it. Checks its version only where the runtime has Node's modules.
 *
 * @returns the problem as the end of a sentence, for example `needs the package
 * pg, which is not installed`; `undefined` if the package can be used.
 */
export function findPeerProblem(
  peer: Peer,
  {
    isLoaded,
    base,
    cause,
  }: {
    isLoaded: boolean
    /** Why the package was not loaded. */
    cause?: unknown
    /** URL of the file whose `node_modules` are searched for the package. */
    base: string | undefined
  },
): string | undefined {
  const { name, from } = peer
  const found = findVersion(name, base)
  if (found !== undefined && isOlder(found, from))
    return `needs ${name} ${from} or later, and ${found} is installed: run npm install ${name}@${from}`
  if (isLoaded) return undefined
  if (found === undefined && isMissing(name, cause)) return absent(peer)
  const version = found === undefined ? 'which' : `whose version ${found}`
  const { message } = Object(cause)
  const words = message === undefined ? '' : ` (${firstLineOf(message)})`
  return `needs the package ${name}, ${version} cannot be loaded here${words}: leave it out of your bundle, or install it again`
}

/**
 * True when the runtime did not find the package. A bundle can contain the
 * package and fail to run it, which installing the package does not mend.
 */
function isMissing(name: string, cause: unknown): boolean {
  const { code, message = '' } = Object(cause)
  if (cause === undefined) return true
  const isNotFound =
    /MODULE_NOT_FOUND$/.test(String(code)) ||
    /(find|resolve|no such|not found|missing|failed to fetch)/i.test(message)
  return isNotFound && String(message).includes(name)
}

function firstLineOf(message: unknown): string {
  return redact(String(message).split('\n')[0] ?? '')
}

function absent({ name }: Peer): string {
  return `needs the package ${name}, which is not installed: run npm install ${name}`
}

/**
 * Returns the version of an installed package; `undefined` where there is no
 * file system.
 */
function findVersion(
  name: string,
  base: string | undefined,
): string | undefined {
  const node = builtins()
  // Edge runtimes can offer Node's modules although the code has no file URL.
  if (!node || !base?.startsWith('file:')) return undefined
  const require = node.createRequire(base)
  const folders = require.resolve.paths(name) ?? []
  const files = folders.map((folder) => `${folder}/${name}/package.json`)
  for (const file of [resolveFile(require, name), ...files]) {
    const version = file === undefined ? file : readVersion(node, file)
    if (version !== undefined) return version
  }
  return undefined
}

type Builtins = {
  createRequire: typeof createRequire
  readFileSync: typeof readFileSync
}

/**
 * Returns Node's modules without an import statement, which would fail in a
 * browser.
 */
function builtins(): Builtins | undefined {
  const get = globalThis.process?.getBuiltinModule
  if (!get) return undefined
  const { createRequire } = get('node:module')
  const { readFileSync } = get('node:fs')
  return { createRequire, readFileSync }
}

/**
 * Finds a file of a package with `require.resolve`, because Yarn Plug'n'Play
 * has no `node_modules` folder to search.
 */
function resolveFile(
  require: NodeJS.Require,
  name: string,
): string | undefined {
  try {
    return require.resolve(`${name}/package.json`)
  } catch {
    // The package is not installed, or does not export this file.
    return undefined
  }
}

function readVersion(
  { readFileSync }: Builtins,
  file: string,
): string | undefined {
  try {
    return String(JSON.parse(readFileSync(file, 'utf8')).version)
  } catch {
    return undefined
  }
}

/**
 * True when the found version is older. Ignores a pre-release suffix such as
 * `-beta.1`.
 */
function isOlder(found: string, from: string): boolean {
  const [one, other] = [found, from].map((version) =>
    (version.split('-')[0] ?? '').split('.').map(Number),
  )
  for (const at of [0, 1, 2]) {
    const difference = (one?.[at] ?? 0) - (other?.[at] ?? 0)
    if (difference !== 0) return difference < 0
  }
  return false
}
