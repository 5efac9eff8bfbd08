import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { build, type Metafile, type Plugin } from 'esbuild'
import { root } from './installPackage.js'
import { usedSources } from './usedSources.js'

export type Bundle = {
  /** What is imported from other packages and from Node, however it is. */
  imports: readonly string[]
  /** Parts and rooms of our sources of which a line is in the bundle. */
  folders: readonly string[]
}

/** Packages are left out, and gone where nothing of them is used. */
const leaveOut: Plugin = {
  name: 'leave packages out',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === 'entry-point'
        ? undefined
        : { path, external: true, sideEffects: false },
    )
  },
}

/** The package has no source maps; the build beside it has. */
const takeMaps: Plugin = {
  name: 'take source maps of the build',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\bdist\/[\w-]+\.js$/ }, ({ path }) => ({
      contents: `${readFileSync(path, 'utf8')}//# sourceMappingURL=${basename(path)}.map`,
    }))
  },
}

/** What a bundler makes of an import such as `{ buildPayment }`, or `*`. */
export async function bundleNames(
  entry: string,
  names: string,
): Promise<Bundle> {
  const [taken, used] = names === '*' ? ['* as all', 'all'] : [names, names]
  const { metafile, outputFiles } = await build({
    stdin: {
      contents: `import ${taken} from './${entry}.js'\nglobalThis.used = ${used}`,
      resolveDir: join(root, 'dist'),
    },
    bundle: true,
    minify: true,
    platform: 'neutral',
    format: 'esm',
    target: 'es2022',
    plugins: [leaveOut, takeMaps],
    outfile: join(root, 'dist/bundle.js'),
    sourcemap: 'external',
    metafile: true,
    write: false,
    logLevel: 'error',
  })
  const map = outputFiles.find(({ path }) => path.endsWith('.map'))
  return {
    imports: importsOf(metafile),
    folders: foldersOf(usedSources(map?.text ?? '')),
  }
}

function importsOf({ outputs }: Metafile): string[] {
  const paths = Object.values(outputs).flatMap(({ imports }) =>
    imports.map(({ path }) => path),
  )
  return [...new Set(paths)].sort()
}

function foldersOf(sources: readonly string[]): string[] {
  const folders = sources.flatMap(
    (path) => /src\/(\w+(?:\/(?!contracts)\w+)?)\//.exec(path)?.[1] ?? [],
  )
  return [...new Set(folders)].sort()
}
