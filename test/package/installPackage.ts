import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root: string = fileURLToPath(new URL('../..', import.meta.url))

/** A project that has the packed package installed, and its peers beside it. */
export type Consumer = {
  /** The project's folder. */
  project: string
  /** The installed package's folder. */
  installed: string
  /** What the tarball holds, as paths from its root. */
  files: readonly string[]
  remove(): void
}

/**
 * Packs what would be published and unpacks it where an installation would
 * put it, without asking a registry. Another version of viem can be named by
 * its folder.
 */
export function installPackage({ viem = 'viem' } = {}): Consumer {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const packed = run(root, 'npm', [
      'pack',
      '--json',
      '--ignore-scripts',
      '--pack-destination',
      folder,
    ])
    const [{ filename, files }] = JSON.parse(packed)

    const project = join(folder, 'project')
    const modules = join(project, 'node_modules')
    const installed = join(modules, 'countersign')
    mkdirSync(installed, { recursive: true })
    const tarball = join(folder, filename)
    run(folder, 'tar', ['-xzf', tarball, '-C', installed, '--strip=1'])
    // What an entry imports at once; other peers are asked for when needed.
    const peers = { viem, kysely: 'kysely', zod: 'zod' }
    const dependencies = { '@noble/ciphers': '@noble/ciphers' }
    mkdirSync(join(modules, '@noble'))
    for (const [name, folder] of Object.entries({ ...dependencies, ...peers }))
      symlinkSync(join(root, 'node_modules', folder), join(modules, name))
    cpSync(join(root, 'test/package/consumer'), project, { recursive: true })
    return {
      project,
      installed,
      files: files.map(({ path }: { path: string }) => path),
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

/** The output of a program that has to succeed. */
export function run(
  cwd: string,
  program: string,
  args: readonly string[],
): string {
  return execFileSync(program, args, { cwd, stdio: 'pipe' }).toString()
}
