import { join } from 'node:path'
import type { Plugin } from 'esbuild'
import { entryFiles } from './entryFiles.js'

const namespace = 'one shared file'

/**
 * Puts what `countersign` and `countersign/reads` have in common with other
 * entries into one file. esbuild makes a file for each set of entries that use a
 * module, and Node takes longer to find many small files than to read one. So
 * every entry uses all modules of these two.
 */
export function shareOneFile(root: string): Plugin {
  const common = [entryFiles.index, entryFiles.reads]
  const contents = [
    ...common.map((file, at) => `import * as part${at} from './${file}'`),
    `export const use = () => [${common.map((_, at) => `part${at}`)}]`,
  ]
  return {
    name: namespace,
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /./ }, ({ path, kind }) =>
        kind === 'entry-point' || path === namespace
          ? { path, namespace }
          : undefined,
      )
      onLoad({ filter: /./, namespace }, ({ path }) => ({
        contents:
          path === namespace
            ? contents.join('\n')
            : `export * from './${path}'
               import { use } from '${namespace}'
               use()`,
        resolveDir: join(root),
      }))
    },
  }
}
