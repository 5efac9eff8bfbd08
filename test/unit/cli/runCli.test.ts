import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from 'countersign/store'
import { expect, onTestFinished, test } from 'vitest'
import { commands } from '../../../src/cli/runCli.js'
import { parseCommand } from '../../../src/cli/terminal/parseCommand.js'
import { runCommand } from '../../chain/support/cliShop.js'

function openFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('without a command the list goes to stderr, with --help to stdout', async () => {
  const none = await runCommand([], {})
  expect(none).toMatchObject({ code: 2, stdout: '' })
  for (const asked of ['--help', '-h', 'help'])
    expect(await runCommand([asked], {})).toEqual({
      code: 0,
      stdout: none.stderr,
      stderr: '',
    })
})

test('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  expect((await runCommand(['--version'], {})).stdout).toBe(`${version}\n`)
})

test.each(commands.map((command) => [command.name, command] as const))(
  '%s --help names each option and an example that its parser takes',
  async (name, command) => {
    const { code, stdout } = await runCommand([name, '--help'], {})
    expect(code).toBe(0)
    for (const option of Object.keys(command.options))
      expect(stdout).toContain(`--${option}`)
    const [, example = ''] = /^Example: (.+)$/m.exec(stdout) ?? []
    const [words = ''] = example.split(/ [|>] /)
    const [npx, us, called, ...args] = words.split(' ')
    expect([npx, us, called]).toEqual(['npx', 'countersign', name])
    const io = {} as Parameters<typeof parseCommand>[2]
    expect(() => parseCommand(command, args, io)).not.toThrow()
  },
)

test('the guide names each command, and no other', () => {
  const page = readFileSync('docs/cli.md', 'utf8')
  const [, table = ''] = page.split('| Command | Does |')
  const rows = table.split('\n\n', 1)[0]?.matchAll(/^\| (`[^|]+) \|/gm) ?? []
  const named = [...rows].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)[^`]*`/g)].map(([, name]) => name),
  )
  expect(named.sort()).toEqual(commands.map(({ name }) => name).sort())
})

test.each([
  [['nothing'], 'There is no such command'],
  [['health', 'extra'], 'health takes options only.'],
  [['inspect', 'a', 'b'], 'inspect takes at most 1: ORDER | TRANSACTION'],
  [['inspect'], 'Name what to inspect'],
  [['health', '--nothing'], "Unknown option '--nothing'"],
  [['events', '--after'], "Option '--after <value>' argument missing"],
  [['events', '--after', 'x'], '--after must be a number such as 100.'],
  [['ledger', '--from', 'yesterday'], '--from must be a time such as'],
  [['ledger', '--csv', '--json'], 'Pass one of --json, --csv and --hledger.'],
  [['dev', '--preconfirmations', 'x'], '--preconfirmations must be one of'],
  [['explain'], 'There is nothing to read'],
  [['explain', 'nowhere.json'], 'There is no readable file nowhere.json.'],
])('%j is wrong use, and says why', async (args, words) => {
  const ran = await runCommand(args, { cwd: openFolder() })
  expect(ran).toMatchObject({ code: 2, stdout: '' })
  expect(ran.stderr).toMatch(/^.+\n$/)
  expect(ran.stderr).toContain(words)
})

const faults: [string, () => Promise<unknown>, string][] = [
  [
    'exports nothing',
    async () => ({}),
    'countersign.config.mjs must export the parameters of createOrders',
  ],
  [
    'exports a store in memory',
    async () => ({
      default: { store: memoryStore(), tokens: [], wallets: [], seal: 'none' },
    }),
    'The commands cannot open this store',
  ],
  [
    'imports what is not there',
    () => import(join(tmpdir(), 'not-there.mjs')),
    'countersign.config.mjs does not load',
  ],
]

test.each(faults)(
  'a configuration that %s is named',
  async (_, load, words) => {
    const ran = await runCommand(['health', '--config', 'package.json'], {
      cwd: process.cwd(),
      load,
    })
    expect(ran).toMatchObject({ code: 2, stdout: '' })
    expect(ran.stderr).toContain(
      words.replace('countersign.config.mjs', 'package.json'),
    )
  },
)

test('TypeScript that Node does not run is told from other faults', async () => {
  const error = Object.assign(new TypeError('Unknown file extension'), {
    code: 'ERR_UNKNOWN_FILE_EXTENSION',
  })
  const ran = await runCommand(['health', '--config', 'tsup.config.ts'], {
    cwd: process.cwd(),
    load: () => Promise.reject(error),
  })
  expect(ran.code).toBe(2)
  expect(ran.stderr).toContain('NODE_OPTIONS="--import tsx"')
})

test('without a configuration each command says which file to write', async () => {
  const { code, stderr } = await runCommand(['health'], { cwd: openFolder() })
  expect(code).toBe(2)
  expect(stderr).toContain('There is no countersign.config.mjs')
})

test('init writes five files that run as they are, and refuses a folder with files', async () => {
  const cwd = openFolder()
  const { code, stdout } = await runCommand(['init', 'my-shop'], { cwd })
  expect(code).toBe(0)
  const commandsToRun = stdout.match(/^ {2}.+$/gm)
  expect(commandsToRun).toEqual([
    '  cd my-shop && npm install',
    '  npx countersign dev',
    '  npx tsx server.ts',
  ])
  expect(readdirSync(join(cwd, 'my-shop'), { recursive: true }).sort()).toEqual(
    [
      '.gitignore',
      'countersign.config.ts',
      'package.json',
      'server.ts',
      'tsconfig.json',
    ],
  )
  const manifest = JSON.parse(
    readFileSync(join(cwd, 'my-shop/package.json'), 'utf8'),
  )
  expect(manifest.type).toBe('module')
  const { dependencies, devDependencies } = manifest
  expect(Object.keys(dependencies)).toContain('countersign')
  expect(Object.values({ ...dependencies, ...devDependencies })).not.toContain(
    'latest',
  )
  expect(await runCommand(['init', 'my-shop'], { cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('has files already'),
  })
})
