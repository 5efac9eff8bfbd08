import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Mutant } from './types.js'

/** The part of Stryker that is used. Its types are not installed with ours. */
type Stryker = {
  Instrumenter: new (
    logger: object,
  ) => {
    instrument(
      files: readonly { name: string; mutate: true; content: string }[],
      options: object,
    ): Promise<{
      files: readonly { name: string; content: string }[]
      mutants: readonly Mutant[]
    }>
  }
}

const silent = {
  isDebugEnabled: () => false,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
}

/**
 * Finds all mutants of the folders, and returns the sources with every mutant
 * behind a switch.
 */
export async function placeMutants(
  root: string,
  folders: readonly string[],
): Promise<{
  mutants: readonly Mutant[]
  sources: Readonly<Record<string, string>>
}> {
  const entry = join(
    root,
    'test/mutants/node_modules/@stryker-mutator/instrumenter/dist/src/index.js',
  )
  const { Instrumenter }: Stryker = await import(pathToFileURL(entry).href)
  const paths = folders.flatMap((folder) => listSources(root, folder))
  const placed = await new Instrumenter(silent).instrument(
    paths.map((path) => ({
      name: path,
      mutate: true,
      content: readFileSync(join(root, path), 'utf8'),
    })),
    { plugins: null, excludedMutations: [], ignorers: [], noHeader: false },
  )
  return {
    mutants: placed.mutants,
    sources: Object.fromEntries(
      placed.files.map(({ name, content }) => [
        join(root, name),
        markLoading(content),
      ]),
    ),
  }
}

/** Sorted, because the draw goes by position. */
function listSources(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
    .map((path) => `${folder}/${path}`)
    .sort()
}

/** While a module is loaded, what it reaches belongs to no test file. */
function markLoading(content: string): string {
  const state = 'globalThis.__stryker__'
  return `${state} ??= {}; const testFile_ = ${state}.currentTestId; ${state}.currentTestId = undefined;
${content}
${state}.currentTestId = testFile_;
`
}
