import { readdirSync, writeFileSync } from 'node:fs'
import { join, posix, relative } from 'node:path'
import { build, type Plugin } from 'esbuild'

/**
 * Large modules that both builds load from one file of `dist`, and the names of
 * these files. A module with an error class, or with state, cannot be here: it
 * would be another one than that in the builds.
 */
export const sharedFiles: Readonly<
  Record<string, { folder: string; files: RegExp }>
> = {
  checkoutArtifacts: {
    folder: 'src/checkout/contracts',
    files: /\.generated\.[jt]s$/,
  },
  storeCases: { folder: 'src/testing', files: /^storeCases\.[jt]s$/ },
  orderWords: { folder: 'src/client/words', files: /^(de|en)\.[jt]s$/ },
  pageWords: {
    folder: 'src/pages/words',
    files: /(Payment|Subscription)Words\.[jt]s$/,
  },
}

/** Leaves what is shared to `writeSharedFiles`; given where `dist` is. */
export function leaveShared(root: string, dist: './' | '../'): Plugin {
  return {
    name: 'leave shared modules out',
    setup: ({ onResolve }) => {
      onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) => {
        const module = relative(root, join(resolveDir, path))
        const { dir, base } = posix.parse(module.replaceAll('\\', '/'))
        const shared = Object.entries(sharedFiles).find(
          ([, { folder, files }]) => folder === dir && files.test(base),
        )
        return shared && { path: `${dist}${shared[0]}.js`, external: true }
      })
    },
  }
}

/** Writes the files of what `leaveShared` left out. */
export async function writeSharedFiles(root: string): Promise<void> {
  for (const [name, { folder, files }] of Object.entries(sharedFiles)) {
    const modules = readdirSync(join(root, folder)).filter((file) =>
      files.test(file),
    )
    const outfile = join(root, `dist/${name}.js`)
    const { outputFiles, metafile } = await build({
      stdin: {
        contents: modules.map((file) => `export * from './${file}'`).join('\n'),
        resolveDir: join(root, folder),
      },
      absWorkingDir: root,
      outfile,
      bundle: true,
      format: 'esm',
      target: 'es2022',
      sourcemap: 'external',
      metafile: true,
      write: false,
      logLevel: 'error',
    })
    const errors = Object.keys(metafile.inputs).filter((path) =>
      /errors?\.ts$/i.test(path),
    )
    if (errors.length)
      throw new Error(`${name}.js has classes of its own: ${errors.join()}`)
    for (const { path, contents } of outputFiles) writeFileSync(path, contents)
  }
}
