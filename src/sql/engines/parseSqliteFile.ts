import { resolve } from 'node:path'
import { StoreError } from '../../store/errors.js'

/**
 * Returns the absolute path of the file, so that the store keeps its file if
 * the process changes its working directory.
 *
 * @throws {@link StoreError} when `file` is not the path of a file.
 */
export function parseSqliteFile(parameters: { file: string }): string {
  const { file } = Object(parameters)
  if (typeof file !== 'string')
    throw new StoreError(`needs the path of a file, not a ${typeof file}`)
  // The message does not show the URL, because a URL may contain a password.
  if (/^(file:|[a-z][a-z+.-]*:\/\/)/i.test(file))
    throw new StoreError('needs the path of a file, not a URL')
  if (/^(|:memory:)$/.test(file) || file.includes('\0'))
    throw new StoreError(`needs the path of a file, not '${file}'`)
  return resolve(file)
}
