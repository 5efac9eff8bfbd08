import { resolve } from 'node:path'
import { StoreError } from '../../store/errors.js'

/**
 * The absolute path of the file, because the process may change its directory.
 *
 * @throws {@link StoreError} when it is not the path of a file.
 */
export function parseSqliteFile(parameters: { file: string }): string {
  const { file } = Object(parameters)
  if (typeof file !== 'string')
    throw new StoreError(`needs the path of a file, not a ${typeof file}`)
  if (/^(|:memory:|file:.*)$/s.test(file) || file.includes('\0'))
    throw new StoreError(`needs the path of a file, not '${file}'`)
  return resolve(file)
}
