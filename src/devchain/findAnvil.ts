import { accessSync, constants, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join, sep } from 'node:path'
import process from 'node:process'
import { AnvilNotFoundError } from './errors.js'
import { findPlaces } from './findPlaces.js'

/**
 * Finds the anvil program. Tries the given one, then that of the npm package
 * for this platform, then the one on `PATH`.
 *
 * @throws {@link AnvilNotFoundError} when there is none.
 */
export async function findAnvil(binary?: string | undefined): Promise<string> {
  const found = binary
    ? findProgram(binary)
    : ((await resolvePackage()) ?? findProgram('anvil'))
  if (found === undefined)
    throw new AnvilNotFoundError({ binary: binary ?? 'anvil' })
  return found
}

async function resolvePackage(): Promise<string | undefined> {
  const arch = process.arch === 'x64' ? 'amd64' : process.arch
  const name = process.platform === 'win32' ? 'anvil.exe' : 'anvil'
  const path = `@foundry-rs/anvil-${process.platform}-${arch}/bin/${name}`
  for (const place of await findPlaces()) {
    try {
      return createRequire(place).resolve(path)
    } catch {
      // The package is not installed here: try the next place.
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
