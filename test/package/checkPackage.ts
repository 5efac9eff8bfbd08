/**
 * Looks at the package as its users get it: packs it, installs it into a
 * project of its own, then reads, imports, compiles and bundles it there.
 *
 *     npm run build && npm run package
 */
import process from 'node:process'
import { checkBundle, checkImports } from './checkBundle.js'
import { checkCommands } from './checkCommands.js'
import {
  checkContents,
  checkExports,
  checkPages,
  checkShared,
} from './checkContents.js'
import { checkEntries, checkOptionalPeers } from './checkEntries.js'
import { checkReadme, checkX402Guide } from './checkGuides.js'
import {
  checkConditions,
  checkNotice,
  checkWithoutPeers,
} from './checkNodeBuild.js'
import { checkShaking } from './checkShaking.js'
import { checkServerBundle, checkVite, checkWorker } from './checkSites.js'
import { checkOurTypes, checkTypes } from './checkTypes.js'
import { type Consumer, installPackage } from './installPackage.js'

type Check = (consumer: Consumer) => void | Promise<void>

const checks: readonly (readonly [string, Check])[] = [
  ['the tarball holds what it should and nothing else', checkContents],
  ['the export map names every entry, and only files that exist', checkExports],
  ['the payment page is in the package', checkPages],
  ['both builds load from one file what is the same in both', checkShared],
  ['Node imports every entry and sees the names of its source', checkEntries],
  [
    'stores and the development chain say which of their peers is missing',
    checkOptionalPeers,
  ],
  ['the command line runs without optional packages', checkCommands],
  ['the package imports its peers and Node only', checkImports],
  ['Node gets a build of its own, and no bundler gets it', checkConditions],
  ['the licence of each bundled package is in the package', checkNotice],
  ['a checkout page bundles without viem, and the bundle runs', checkBundle],
  ['Vite builds a page of root and reads, and it pays', checkVite],
  ['a worker bundles orders and handler, and it answers', checkWorker],
  [
    'a server bundles without the optional packages, and says which is missing',
    checkServerBundle,
  ],
  ['a bundle holds what its import needs and nothing else', checkShaking],
  [
    'strict consumers compile with the oldest, our and the newest TypeScript',
    checkTypes,
  ],
  ['all that the README prints runs in an empty folder', checkReadme],
  [
    'all that the guide to x402 prints runs in an empty folder, a program that pays included',
    checkX402Guide,
  ],
]

/** With the oldest viem of the peer range in place of the newest. */
const oldestChecks: readonly (readonly [string, Check])[] = [
  ['the oldest viem: Node imports every entry', checkEntries],
  ['the oldest viem: strict consumers compile', checkOurTypes],
]

/** Without any peer. */
const bareChecks: readonly (readonly [string, Check])[] = [
  ['Node imports the entries of a server without viem', checkWithoutPeers],
]

const consumer = installPackage()
process.on('exit', consumer.remove)
const oldest = installPackage({ viem: 'viem-oldest' })
process.on('exit', oldest.remove)
const bare = installPackage({ peers: [] })
process.on('exit', bare.remove)

const kilobytes = (bytes: number) => `${Math.round(bytes / 1024)} kB`
console.log(
  `The tarball has ${kilobytes(consumer.size)}, unpacked ${kilobytes(consumer.unpackedSize)}, in ${consumer.files.length} files.`,
)

for (const [rule, check, installed] of [
  ...checks.map((one) => [...one, consumer] as const),
  ...oldestChecks.map((one) => [...one, oldest] as const),
  ...bareChecks.map((one) => [...one, bare] as const),
]) {
  const began = performance.now()
  try {
    await check(installed)
    const ms = Math.round(performance.now() - began)
    console.log(`✓ ${rule} (${ms} ms)`)
  } catch (error) {
    console.error(`✗ ${rule}`)
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
