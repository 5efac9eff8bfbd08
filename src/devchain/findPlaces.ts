import { join } from 'node:path'
import process from 'node:process'
import { findOwnUrl } from '../core/findOwnUrl.js'

/**
 * Returns the files from which to look for installed packages, as `require` in
 * them would: first one in the user's project, then one of this package.
 */
export async function findPlaces(): Promise<string[]> {
  const project = join(process.cwd(), 'index.js')
  const own = await findOwnUrl()
  return own === undefined ? [project] : [project, own]
}
