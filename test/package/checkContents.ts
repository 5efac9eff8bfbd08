import { deepEqual, ok } from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import {
  entryFiles,
  nodeFileOf,
  plainFileOf,
} from '../../scripts/entryFiles.js'
import { sharedFiles } from '../../scripts/sharedFiles.js'
import { type Consumer, root } from './installPackage.js'

const documents = ['CHANGELOG.md', 'LICENSE', 'README.md', 'SECURITY.md']

/** Of a page, without those to other sites and to headings of its own. */
const links = /\]\((?!\w+:|#)([^)#]+)[^)]*\)/g

/** Most bytes of the tarball, and of what it holds. */
const mostPacked = 1_620_000
const mostUnpacked = 6_350_000

/** The build, documents and descriptors, without pictures and sources. */
export function checkContents({ files, size, unpackedSize }: Consumer): void {
  const expected = (path: string) =>
    /^dist\/[\w-]+\.(js|d\.ts)$/.test(path) ||
    /^dist\/node\/([\w-]+\.js|NOTICE\.txt)$/.test(path) ||
    /^docs\/[\w-]+\.md$/.test(path) ||
    /^descriptors\/(testsv2\/)?eip712-\w+(\.tests)?\.json$/.test(path)
  const rest = files.filter((path) => !expected(path)).sort()
  deepEqual(rest, [...documents, 'package.json'].sort())

  deepEqual(
    files
      .filter((path) => path.endsWith('.md'))
      .flatMap((page) => brokenLinks(page, files)),
    [],
    'links of the documents that lead to nothing in the package',
  )

  ok(size <= mostPacked, `the tarball has ${size} bytes`)
  ok(unpackedSize <= mostUnpacked, `it holds ${unpackedSize} bytes`)
}

/**
 * The scripts and styles of the pages are in the package once, for both builds.
 */
export function checkPages({ installed }: Consumer): void {
  const forms: Readonly<Record<string, readonly RegExp[]>> = {
    payAssets: [/"pay-\w{8}\.js"/, /"look-\w{8}\.css"/],
    subscribeAssets: [/"subscribe-\w{8}\.js"/, /"look-\w{8}\.css"/],
    merchantAssets: [/"merchant-\w{8}\.js"/, /"look-\w{8}\.css"/],
    // The paywall has them inline.
    paywallAssets: [/hash"?: ?"sha256-[\w+/]{43}="/],
  }
  for (const [name, expected] of Object.entries(forms)) {
    const text = readFileSync(join(installed, `dist/${name}.js`), 'utf8')
    for (const form of expected) ok(form.test(text), `${name} lacks ${form}`)
  }
}

/** Both builds load what is large and the same in both from one file. */
export function checkShared({ installed }: Consumer): void {
  for (const name of Object.keys(sharedFiles))
    for (const [folder, path] of [
      ['dist', `./${name}.js`],
      ['dist/node', `../${name}.js`],
    ] as const) {
      const texts = readdirSync(join(installed, folder))
        .filter((file) => file.endsWith('.js'))
        .map((file) => readFileSync(join(installed, folder, file), 'utf8'))
      ok(
        texts.some((text) => text.includes(path)),
        `no file of ${folder} loads ${path}`,
      )
    }
}

/** Links of a page to pages that the package lacks. */
function brokenLinks(page: string, files: readonly string[]): string[] {
  return [...readFileSync(join(root, page), 'utf8').matchAll(links)]
    .map(([, link = '']) => posix.join(posix.dirname(page), link))
    .filter((path) => !files.includes(path) && !path.startsWith('docs/images/'))
    .map((path) => `${page}: ${path}`)
}

/** Every file an export names exists, and no entry lacks an export. */
export function checkExports({ files, installed }: Consumer): void {
  const { exports, typesVersions } = readManifest(installed)
  const targets = Object.values(exports).flatMap((target) =>
    typeof target === 'string' ? [target] : Object.values(target),
  )
  const paths = [...new Set(targets.map((target) => posix.normalize(target)))]
  deepEqual(
    paths.filter((path) => !files.includes(path)),
    [],
  )
  // What TypeScript reads with `moduleResolution: node10`; the root has `types`.
  deepEqual(
    Object.keys(typesVersions['*'] ?? {}).sort(),
    Object.keys(entryFiles)
      .filter((entry) => entry !== 'index')
      .sort(),
  )

  const built = Object.keys(entryFiles).flatMap((name) => [
    `dist/${name}.d.ts`,
    plainFileOf(name),
    nodeFileOf(name),
  ])
  deepEqual(
    paths.filter((path) => path !== 'package.json').sort(),
    [...new Set(built)].sort(),
  )
}

type Manifest = {
  exports: Record<string, string | Record<string, string>>
  typesVersions: Record<string, Record<string, string[]>>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, unknown>
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
