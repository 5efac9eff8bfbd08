import { readFile } from 'node:fs/promises'
import type { Plugin, PluginBuild } from 'esbuild'

/**
 * The functions of viem that end up in the build for Node. Its entries are cut
 * down to these before esbuild sees them, so that nothing else is read.
 */
const parts = [
  'bytesToHex',
  'concatHex',
  'createClient',
  'createTransport',
  'decodeAbiParameters',
  'decodeErrorResult',
  'decodeEventLog',
  'decodeFunctionData',
  'decodeFunctionResult',
  'encodeAbiParameters',
  'encodeFunctionData',
  'estimateFeesPerGas',
  'getAddress',
  'getContractAddress',
  'hashAuthorization',
  'hashTypedData',
  'hexToBytes',
  'hexToString',
  'isAddress',
  'keccak256',
  'recoverAddress',
  'serializeTransaction',
  'stringToBytes',
  'stringToHex',
  'toPrefixedMessage',
  'zeroAddress',
]

/** Development is where people catch viem's errors by their classes. */
const sourcesOfServers = /[\\/]src[\\/](?!devchain|testing)(?!.*\.test\.ts$)/

/** True for an import of viem that the build for Node replaces. */
export function isViemOfSources(path: string, importer: string): boolean {
  const isViem = /^viem(\/|$)/.test(path)
  const isLater = /[\\/]webSocketLater\.ts$/.test(importer)
  return isViem && sourcesOfServers.test(importer) && !isLater
}

/** Takes parts of viem and zod in, and leaves every other package out. */
export const takeParts: Plugin = {
  name: 'take parts of viem and zod in',
  setup: (build) => {
    cutViem(build)
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point' || !importer) return undefined
      if (/openLogSocket\.ts$/.test(importer) && path === 'viem')
        return { path: importer.replace(/openLogSocket/, 'webSocketLater') }
      const isTaken = path === 'zod' || isViemOfSources(path, importer)
      // Only a WebSocket needs it, and that comes from the user's own viem.
      const isInside = /node_modules/.test(importer) && path !== 'isows'
      return isTaken || isInside ? undefined : { external: true }
    })
  },
}

/** Cuts the entries of viem down to the parts that are used. */
export function cutViem({ onLoad }: PluginBuild): void {
  onLoad(
    { filter: /viem[\\/]_esm[\\/](actions[\\/]|utils[\\/])?index\.js$/ },
    async ({ path }) => ({
      contents: cutEntry(await readFile(path, 'utf8')),
    }),
  )
}

/** Keeps the lines of an entry that export one of the parts. */
function cutEntry(text: string): string {
  const lines = text.matchAll(/^export \{([^}]*)\} from ('[^']+');/gm)
  return [...lines]
    .flatMap(([, names = '', from]) => {
      const kept = names
        .split(',')
        .map((name) => name.trim())
        .filter((name) => parts.includes(name))
      return kept.length ? [`export { ${kept.join(', ')} } from ${from}`] : []
    })
    .join('\n')
}
