import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, sep } from 'node:path'
import process from 'node:process'
import { AnvilNotFoundError } from './errors.js'

/**
 * Finds the anvil program: the given one; otherwise the npm package for this
 * platform; otherwise the program on `PATH`.
 *
 * @throws {@link AnvilNotFoundError} when there is none.
 */
export function findAnvil(binary?: string | undefined): string {
  const found = binary
    ? findProgram(binary)
    : (resolvePackage() ?? findProgram('anvil'))
  if (found === undefined)
    throw new AnvilNotFoundError({ binary: binary ?? 'anvil' })
  return found
}

function resolvePackage(): string | undefined {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const path = `@foundry-rs/anvil-${process.platform}-${arch}/bin/${name}`
  // Searches the user's project, then next to this package.
  for (const from of [join(process.cwd(), 'index.js'), import.meta.url]) {
    try {
      return createRequire(from).resolve(path)
    } catch {
      // Not installed there.
    }
  }
  return undefined
}

function findProgram(binary: string): string | undefined {
  const isPath = binary.includes('/') || binary.includes(sep)
  const folders = (process.env.PATH ?? '').split(delimiter)
  const endings = process.platform === 'win32' ? ['', '.exe'] : ['']
  const candidates = isPath
    ? [binary]
    : folders.flatMap((folder) =>
        endings.map((ending) => join(folder, binary + ending)),
      )
  return candidates.find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
