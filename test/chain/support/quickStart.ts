import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { findLine } from '../../unit/support/findLine.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const pages = ['docs/quickstart-backend.md', 'docs/quickstart-dapp.md']
const named =
  /```\w+\n(?:\/\/|<!--) ([\w./-]+\.(?:ts|html))(?: -->)?\n[\s\S]*?\n```/g

/** Adds the lines to the server that serve a reader's own page. */
export const servePage = (server: string): string =>
  server
    .replace(
      "import { serve } from '@hono/node-server'\n",
      "$&import { serveStatic } from '@hono/node-server/serve-static'\n",
    )
    .replace(
      /^const server = /m,
      "app.use('/*', serveStatic({ root: './public' }))\n$&",
    )

export type QuickStart = {
  /** Where the server and the chain are. */
  shop: string
  node: string
  /** Runs a program to its end and gives what it printed. */
  run(file: string, ...args: readonly string[]): Promise<string>
  /** Starts the chain, and waits until it answers. */
  startChain(): Promise<void>
  /** Starts the server, and returns the link that it prints. */
  startServer(): Promise<string>
  /** Starts a program, and waits for a line of its errors and warnings. */
  startAndRead(file: string, line: RegExp): Promise<string>
  /** Bundles a file for the page, and gives what came of it. */
  bundle(file: string): Promise<Uint8Array>
  stop(): Promise<void>
}

/** Puts every file that the two guides name where they can run. */
export async function writeQuickStart(): Promise<QuickStart> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-quickstart-'))
  const [chainPort, shopPort] = await freePorts()
  for (const { file, text } of pages.flatMap(readFiles)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    const moved = (file === 'server.ts' ? servePage(text) : text)
      .replace(/(?<=:\s?)8545/g, `${chainPort}`)
      .replace(/(?<=:\s?)3000/g, `${shopPort}`)
    writeFileSync(join(folder, file), moved)
  }
  const config = { extends: join(root, 'tsconfig.json') }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

  const running: ChildProcess[] = []
  const start = (
    args: readonly string[],
    output: 'stdout' | 'stderr',
    line: RegExp,
  ): Promise<string> => {
    const child = spawn(process.execPath, ['--import', 'tsx', ...args], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.push(child)
    child.stderr.pipe(process.stderr)
    const read = child[output]
    // Keep reading its output, because it would stop at a full pipe.
    return findLine(createInterface({ input: read }), line).finally(() =>
      child.stdout.resume(),
    )
  }
  return {
    shop: `http://127.0.0.1:${shopPort}`,
    node: `http://127.0.0.1:${chainPort}`,
    run: (file, ...args) => runToEnd(folder, [file, ...args]),
    startChain: async () => {
      const command = join(root, 'src/cli/bin.ts')
      await start(
        [command, 'dev', '--port', `${chainPort}`],
        'stdout',
        /^chain/,
      )
    },
    startServer: async () => {
      const printed = await start(['server.ts'], 'stdout', /^pay at /)
      return printed.replace('pay at ', '')
    },
    startAndRead: (file, line) => start([file], 'stderr', line),
    bundle: (file) => bundle(folder, file),
    stop: async () => {
      for (const child of running.reverse()) await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function readFiles(page: string): { file: string; text: string }[] {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(named)
  return [...blocks].map(([block, file = '']) => ({
    file,
    text: block.split('\n').slice(2, -1).join('\n'),
  }))
}

function runToEnd(cwd: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const all = ['--import', 'tsx', ...args]
    execFile(process.execPath, all, { cwd }, (error, out, problems) =>
      error ? reject(new Error(`${args[0]}: ${problems}`)) : resolve(out),
    )
  })
}

/** As the guide's command does. */
async function bundle(folder: string, file: string): Promise<Uint8Array> {
  const outfile = join(folder, 'public/page.js')
  await build({
    absWorkingDir: folder,
    entryPoints: [file],
    bundle: true,
    format: 'esm',
    minify: true,
    outfile,
    logLevel: 'silent',
  })
  return readFileSync(outfile)
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

/** Two that nobody uses, both held until both are known. */
async function freePorts(): Promise<[number, number]> {
  const servers = [createServer(), createServer()] as const
  const ports = await Promise.all(
    servers.map(async (server) => {
      await once(server.listen(0, '127.0.0.1'), 'listening')
      return (server.address() as AddressInfo).port
    }),
  )
  for (const server of servers) await once(server.close(), 'close')
  const [one = 0, other = 0] = ports
  return [one, other]
}
