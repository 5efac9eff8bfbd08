import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

const name = 'devContracts'
const folder = 'src/devchain/contracts'
const compiled = /\.generated\.[jt]s$/

/**
 * Leaves the compiled contracts of the development chain out of a build; given
 * where `dist` is. Both builds load them from the file of `writeContracts`,
 * because they are large.
 */
export function shareContracts(dist: './' | '../'): Plugin {
  return {
    name: 'contracts of the development chain',
    setup: ({ onResolve }) => {
      onResolve({ filter: compiled }, ({ importer }) =>
        /[\\/]src[\\/]devchain[\\/]\w+\.ts$/.test(importer)
          ? { path: `${dist}${name}.js`, external: true }
          : undefined,
      )
    },
  }
}

export async function writeContracts(root: string): Promise<void> {
  const files = readdirSync(join(root, folder)).filter((file) =>
    compiled.test(file),
  )
  await build({
    stdin: {
      contents: files.map((file) => `export * from './${file}'`).join('\n'),
      resolveDir: join(root, folder),
    },
    outfile: join(root, `dist/${name}.js`),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  })
}
