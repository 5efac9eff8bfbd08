import { statSync } from 'node:fs'
import { StoreError } from '../../store/errors.js'

/**
 * Gives what looks whether a file is still the one that was there first.
 *
 * SQLite goes on with one that was taken away: what is written to it then is
 * gone with the process.
 */
export function watchFile(path: string): () => void {
  let first = readInode(path)
  return () => {
    const inode = readInode(path)
    first ??= inode
    if (inode !== first)
      throw new StoreError(
        'lost its file, which was moved, removed or replaced; the process has to start anew',
      )
  }
}

function readInode(path: string): bigint | undefined {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino
}
