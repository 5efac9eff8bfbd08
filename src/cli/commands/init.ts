import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { UsageError } from '../terminal/errors.js'
import { jsonOption } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

/**
 * The guide whose code `init` writes. The code is stored only there, so the
 * guide and the files cannot differ.
 */
const guide = 'docs/quickstart-backend.md'

/** The code blocks that `init` writes. The others are for later steps. */
const written = ['countersign.config.ts', 'server.ts']

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
    await mkdir(folder, { recursive: true })
    for (const { file, text } of files)
      await writeFile(join(folder, file), text)
    const go = name === '.' ? '' : `cd ${name} && `
    const commands = [
      `${go}npm install`,
      'npx countersign dev',
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
        `The server prints the link to a payment page. node_modules/countersign/${guide} goes on from there, with step 4.`,
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
  const page = await readFile(join(packageFolder, guide), 'utf8')
  const manifest: unknown = JSON.parse(
    await readFile(join(packageFolder, 'package.json'), 'utf8'),
  )
  return [
    { file: 'package.json', text: packageOf(page, manifest) },
    { file: 'tsconfig.json', text: `${settingsIn(page)}\n` },
    { file: '.gitignore', text: 'node_modules\norders.db*\n' },
    ...written.map((file) => ({ file, text: `${blockOf(page, file)}\n` })),
  ]
}

/** Returns the code block whose first line is a comment with the file's name. */
function blockOf(page: string, file: string): string {
  const [, after] = page.split(`\`\`\`ts\n// ${file}\n`)
  if (after === undefined) throw new Error(`${guide} has no ${file}.`)
  return after.slice(0, after.indexOf('\n```'))
}

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
