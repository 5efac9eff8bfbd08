import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A file system of its own, as long as the test. */
export type SmallDisk = {
  folder: string
  /** Leaves room for so many bytes, and no more. */
  fill(left?: number): void
  free(): void
}

/**
 * Mounts a small file system in memory. `undefined` where this user may not
 * mount, with the reason on the screen.
 */
export function mountSmallDisk(megabytes: number): SmallDisk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-disk-'))
  const size = `size=${megabytes}m`
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder], {
      stdio: 'pipe',
    })
  } catch (error) {
    rmSync(folder, { recursive: true })
    const reason = String(Object(error).stderr ?? error).trim()
    process.stderr.write(`No small disk: ${reason}\n`)
    return undefined
  }
  onTestFinished(() => {
    execFileSync('umount', ['--lazy', folder])
    rmSync(folder, { recursive: true })
  })
  const ballast = join(folder, 'ballast')
  return {
    folder,
    fill: (left = 0) => fillWith(ballast, left),
    free: () => rmSync(ballast, { force: true }),
  }
}

/** Writes until nothing but `left` bytes has room. */
function fillWith(file: string, left: number): void {
  const handle = openSync(file, 'w')
  const { bavail, bsize } = statfsSync(file)
  const most = Math.max(bavail * bsize - left, 0)
  const page = Buffer.alloc(4096)
  try {
    for (let size = 0; size < most; size += page.length) writeSync(handle, page)
  } catch (error) {
    if (Object(error).code !== 'ENOSPC') throw error
  } finally {
    closeSync(handle)
  }
}
