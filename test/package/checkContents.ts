import { deepEqual } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { entryFiles } from '../../scripts/entryFiles.js'
import { type Consumer, root } from './installPackage.js'

const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md']

/** Of a page, without those to other sites and to headings of its own. */
const links = /\]\((?!\w+:|#)([^)#]+)[^)]*\)/g

/** The build, the sources it maps to, and the documents with their pictures. */
export function checkContents({ files }: Consumer): void {
  const expected = (path: string) =>
    /^dist\/[\w-]+\.(js|js\.map|d\.ts)$/.test(path) ||
    /^dist\/node\/([\w-]+\.(js|js\.map)|NOTICE\.txt)$/.test(path) ||
    /^src\/[\w/]+\.(generated\.)?ts$/.test(path) ||
    /^src\/[\w/]+\.(sol|yul)$/.test(path) ||
    /^docs\/([\w-]+\.md|images\/[\w-]+\.(svg|png))$/.test(path)
  const rest = files.filter((path) => !expected(path)).sort()
  deepEqual(rest, [...documents, 'package.json'].sort())

  deepEqual(
    files
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) => brokenLinks(page, files)),
    [],
    'links of the documents that lead to nothing in the package',
  )

  deepEqual(
    files
      .filter((path) => path.endsWith('.map'))
      .flatMap(sourcesElsewhere)
      .filter((source) => !files.includes(source)),
    [],
    'sources that the source maps name, and neither they nor the package hold',
  )
}

/** The sources of a map that it does not hold itself. */
function sourcesElsewhere(path: string): string[] {
  const { sources, sourcesContent } = JSON.parse(
    readFileSync(join(root, path), 'utf8'),
  )
  return sources
    .map((source: string) => posix.join(posix.dirname(path), source))
    .filter(
      (source: string, index: number) =>
        source.startsWith('src/') || !sourcesContent?.[index],
    )
}

/** Links of a page, and its pictures, that the package lacks. */
function brokenLinks(page: string, files: readonly string[]): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(links)]
    .map(([, link = '']) => posix.join(posix.dirname(page), link))
    .filter((path) => !files.includes(path))
    .map((path) => `${page}: ${path}`)
}

/** Every file an export names exists, and no entry lacks an export. */
export function checkExports({ files, installed }: Consumer): void {
  const { exports } = readManifest(installed)
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  const paths = [...new Set(targets.map((target) => posix.normalize(target)))]
  deepEqual(
    paths.filter((path) => !files.includes(path)),
    [],
  )

  const built = Object.keys(entryFiles).flatMap((name) => [
    `dist/${name}.d.ts`,
    `dist/${name}.js`,
    `dist/node/${name}.js`,
  ])
  deepEqual(
    paths.filter((path) => path !== 'package.json').sort(),
    built.sort(),
  )
}

type Manifest = {
  exports: Record<string, string | Record<string, string>>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
