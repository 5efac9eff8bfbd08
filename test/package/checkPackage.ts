/**
 * Looks at the package as its users get it: packs it, installs it into a
 * project of its own, then reads, imports, compiles and bundles it there.
 *
 *     npm run build && npm run package
 */
import process from 'node:process'
import { checkBundle, checkImports } from './checkBundle.js'
import { checkContents, checkExports } from './checkContents.js'
import { checkEntries, checkOptionalPeers } from './checkEntries.js'
import { checkShaking } from './checkShaking.js'
import { checkVite, checkWorker } from './checkSites.js'
import { checkTypes } from './checkTypes.js'
import { type Consumer, installPackage } from './installPackage.js'

type Check = (consumer: Consumer) => void | Promise<void>

const checks: readonly (readonly [string, Check])[] = [
  ['the tarball holds what it should and nothing else', checkContents],
  ['the export map names every entry, and only files that exist', checkExports],
  ['Node imports every entry and sees the names of its source', checkEntries],
  [
    'stores and the development chain say which of their peers is missing',
    checkOptionalPeers,
  ],
  ['the package imports its peers and Node only', checkImports],
  ['a checkout page bundles without viem, and the bundle runs', checkBundle],
  ['Vite builds a page of root and reads, and it pays', checkVite],
  ['a worker bundles orders and handler, and it answers', checkWorker],
  ['a bundle holds what its import needs and nothing else', checkShaking],
  [
    'strict consumers compile with the oldest, our and the newest TypeScript',
    checkTypes,
  ],
]

const consumer = installPackage()
process.on('exit', consumer.remove)

for (const [rule, check] of checks) {
  const began = performance.now()
  try {
    await check(consumer)
    const ms = Math.round(performance.now() - began)
    console.log(`✓ ${rule} (${ms} ms)`)
  } catch (error) {
    console.error(`✗ ${rule}`)
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
