import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Row } from './compare.js'

type Check = { name: string; size: number; sizeLimit: number }

/** The bundles that size-limit checks, as their limit over their size. */
export async function benchBundleSize(): Promise<Row[]> {
  const run = promisify(execFile)
  // Exits with an error when a bundle is too large; that is told by its ratio.
  const { stdout } = await run('npx', ['size-limit', '--json']).catch(
    (failed: { stdout: string }) => failed,
  )
  const checks: readonly Check[] = JSON.parse(stdout)
  return checks.map(({ name, size, sizeLimit }) => ({
    name: `bundle of ${name}`,
    peer: `its budget of ${sizeLimit} B`,
    ratio: sizeLimit / size,
    goal: 1,
    unit: 'B',
  }))
}
