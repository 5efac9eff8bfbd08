import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
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
  /** Bytes of the tarball, and of what it holds. */
  size: number
  unpackedSize: number
  remove(): void
}

/** Packages that an installation brings along. */
export const dependencies = ['@noble/ciphers', 'eventsource-parser']

/** What the entries import at once. They ask for the other peers when needed. */
const peersAtOnce = [
  'viem',
  'zod',
  '@wagmi/core',
  'wagmi',
  '@tanstack/react-query',
  '@opentelemetry/api',
]

/**
 * Packs what would be published and unpacks it where an installation would
 * put it, without asking a registry. Another version of viem can be named by
 * its folder, and other peers to install.
 */
export function installPackage({
  viem = 'viem',
  peers = peersAtOnce,
}: {
  viem?: string
  peers?: readonly string[]
} = {}): Consumer {
  const { tarball, files, size, unpackedSize } = packOnce()
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  try {
    const project = join(folder, 'project')
    const modules = join(project, 'node_modules')
    const installed = join(modules, 'countersign')
    mkdirSync(installed, { recursive: true })
    run(folder, 'tar', ['-xzf', tarball, '-C', installed, '--strip=1'])
    for (const name of [...peers, ...dependencies]) {
      const place = join(modules, name)
      mkdirSync(dirname(place), { recursive: true })
      const source = name === 'viem' ? viem : name
      symlinkSync(join(root, 'node_modules', source), place)
    }
    cpSync(join(root, 'test/package/consumer'), project, { recursive: true })
    return {
      project,
      installed,
      files,
      size,
      unpackedSize,
      remove,
    }
  } catch (error) {
    remove()
    throw error
  }
}

type Tarball = Pick<Consumer, 'files' | 'size' | 'unpackedSize'> & {
  tarball: string
}

let packed: Tarball | undefined

/** Packs the package when first asked, for as long as this process runs. */
export function packOnce(): Tarball {
  packed ??= pack()
  return packed
}

function pack(): Tarball {
  if (!existsSync(join(root, 'dist')))
    throw new Error('There is no build: run `npm run build` first.')
  const folder = mkdtempSync(join(tmpdir(), 'countersign-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const args = ['--json', '--ignore-scripts', '--pack-destination', folder]
  const [{ filename, files, size, unpackedSize }] = JSON.parse(
    run(root, 'npm', ['pack', ...args]),
  )
  return {
    tarball: join(folder, filename),
    files: files.map(({ path }: { path: string }) => path),
    size,
    unpackedSize,
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
