import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const folder = 'src/devchain/contracts'
const file = 'devArtifacts.js'

/** Files with compiled contracts. */
const compiled = /(\.generated|multicall3Code)\.[jt]s$/

/**
 * Leaves the compiled contracts of `countersign/devchain` to
 * `writeDevArtifacts`; given where `dist` is. They are large, and both builds
 * load them from one file.
 */
export function devArtifacts(dist: './' | '../'): Plugin {
  return {
    name: 'contracts of the development chain',
    setup: ({ onResolve }) => {
      onResolve({ filter: compiled }, ({ importer }) =>
        /[\\/]src[\\/]devchain[\\/]/.test(importer)
          ? { path: dist + file, external: true }
          : undefined,
      )
    },
  }
}

/** Writes the file of the contracts that `devArtifacts` left out. */
export async function writeDevArtifacts(root: string): Promise<void> {
  const names = readdirSync(join(root, folder)).filter((name) =>
    compiled.test(name),
  )
  const { outputFiles } = await build({
    stdin: {
      contents: names.map((name) => `export * from './${name}'`).join('\n'),
      resolveDir: join(root, folder),
    },
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    target: 'es2022',
    write: false,
    logLevel: 'error',
  })
  writeFileSync(join(root, 'dist', file), outputFiles[0]?.text ?? '')
}
