import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { UsageError } from '../terminal/errors.js'
import { jsonOption } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

/**
 * The guides whose code blocks `init` writes as files. The code exists only in
 * the guides, so that guide and files cannot differ.
 */
const guides = ['docs/quickstart-backend.md', 'docs/quickstart-dapp.md']

/**
 * Matches a code block whose first line is a comment with the name of its file.
 */
const namedBlock =
  /```\w+\n(?:\/\/|<!--) ([\w./-]+\.(?:ts|html))(?: -->)?\n([\s\S]*?)\n```/g

const installed = /^npm install (--save-dev )?(.+)$/gm

export const initCommand: Command = {
  name: 'init',
  summary: 'Writes the quick start for a backend as a project.',
  positionals: '[FOLDER]',
  mostPositionals: 1,
  options: jsonOption,
  details: [
    'Writes TypeScript with SQLite and Hono into FOLDER, by default this one, and refuses a folder that has files. Installs nothing.',
  ],
  example: 'npx countersign init my-shop',
  run: async ({ io, positionals, flag }) => {
    const print = createPrinter(io)
    const name = positionals[0] ?? '.'
    const folder = resolve(io.cwd, name)
    await assertEmpty(folder)
    const files = await planFiles(io.packageFolder)
    for (const { file, text } of files) {
      await mkdir(dirname(join(folder, file)), { recursive: true })
      await writeFile(join(folder, file), text)
    }
    const go = name === '.' ? '' : `cd ${name} && `
    const commands = [
      `${go}npm install`,
      'npx tsx chain.ts',
      'npx tsx server.ts',
    ]
    if (flag('json'))
      print.json({ folder, files: files.map(({ file }) => file), commands })
    else {
      print.line(
        `Wrote ${files.length} files. Now run, the last two in terminals of their own:`,
      )
      for (const command of commands) print.line(`  ${command}`)
      print.line(
        'node_modules/countersign/docs/quickstart-backend.md explains them, from step 4 on.',
      )
    }
    return 0
  },
}

async function assertEmpty(folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (Object(error).code === 'ENOENT') return []
    throw new UsageError(`${folder} is not a folder that can be read.`)
  })
  if (names.length > 0)
    throw new UsageError(`${folder} has files already: name an empty folder.`)
}

type PlannedFile = { file: string; text: string }

async function planFiles(packageFolder: string): Promise<PlannedFile[]> {
  const pages = await Promise.all(
    guides.map((guide) => readFile(join(packageFolder, guide), 'utf8')),
  )
  const [backend = ''] = pages
  const manifest: unknown = JSON.parse(
    await readFile(join(packageFolder, 'package.json'), 'utf8'),
  )
  const blocks = pages.flatMap((page) => [...page.matchAll(namedBlock)])
  return [
    { file: 'package.json', text: packageOf(backend, manifest) },
    { file: 'tsconfig.json', text: `${settingsIn(backend)}\n` },
    { file: '.gitignore', text: 'node_modules\norders.db*\n' },
    ...blocks
      .map(([, file = '', text = '']) => ({ file, text: `${text}\n` }))
      .filter(({ file }) => file !== otherBundler),
  ]
}

/**
 * A file in the guide that `init` does not write. It is only for projects that
 * use Vite as bundler.
 */
const otherBundler = 'vite.config.ts'

/** Returns the JSON of the compiler settings in the guide. */
function settingsIn(page: string): string {
  return /```json\n([\s\S]*?)\n```/.exec(page)?.[1] ?? '{}'
}

/**
 * Builds the `package.json` with the packages that the guide installs, in the
 * versions that this package is tested with.
 */
function packageOf(page: string, manifest: unknown): string {
  const { name, version, devDependencies } = Object(manifest)
  const lists: Record<string, Record<string, string>> = {
    dependencies: {},
    devDependencies: {},
    optionalDependencies: {},
  }
  for (const [, isDev, names = ''] of page.matchAll(installed))
    for (const one of names.split(' ')) {
      const list = lists[listOf(one, isDev !== undefined)]
      const tested = Object(devDependencies)[one]
      if (list)
        list[one] =
          one === name ? `^${version}` : tested ? `^${tested}` : 'latest'
    }
  const project = {
    name: 'my-shop',
    private: true,
    type: 'module',
    ...lists,
    // esbuild works without its install script, about which npm would warn.
    allowScripts: { esbuild: false },
  }
  return `${JSON.stringify(project, undefined, 2)}\n`
}

/**
 * Returns the list of `package.json` that a package goes into. The anvil
 * packages are each for one platform. npm skips those of other platforms only
 * if they are in `optionalDependencies`.
 */
function listOf(name: string, isDev: boolean): string {
  if (name.startsWith('@foundry-rs/')) return 'optionalDependencies'
  return isDev ? 'devDependencies' : 'dependencies'
}
