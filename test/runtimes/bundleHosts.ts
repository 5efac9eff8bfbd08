import { join } from 'node:path'
import { type BuildOptions, build } from 'esbuild'
import { folder } from './runtimes.js'

/** What a project has to have installed. */
const packages = ['countersign', 'countersign/*', 'viem', 'viem/*']

/**
 * Bundles what plays the suite into a project that has the package installed.
 * Programs import the package there; workers and pages have it in their bundle.
 */
export async function bundleHosts(project: string): Promise<void> {
  const modules = [join(project, 'node_modules')]
  const shared: BuildOptions = {
    bundle: true,
    format: 'esm',
    target: 'es2022',
    outdir: project,
    nodePaths: modules,
    // The sources' own paths would lead to the sources of the package.
    tsconfigRaw: {},
    logLevel: 'silent',
  }
  const host = (name: string) => [join(folder, 'hosts', `${name}.ts`)]
  await build({
    ...shared,
    entryPoints: host('program'),
    outExtension: { '.js': '.mjs' },
    external: packages,
    platform: 'node',
  })
  await build({
    ...shared,
    entryPoints: host('worker'),
    // The store of Durable Objects needs kysely, which the project lacks.
    nodePaths: [...modules, join(folder, '../../node_modules')],
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['worker', 'workerd'],
  })
  await build({ ...shared, entryPoints: host('page'), platform: 'browser' })
}
