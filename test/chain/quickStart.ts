import { type ChildProcess, execFile, spawn } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../..', import.meta.url))
const pages = ['docs/quickstart-backend.md', 'docs/quickstart-dapp.md']
const named =
  /```\w+\n(?:\/\/|<!--) ([\w/-]+\.(?:ts|html))(?: -->)?\n[\s\S]*?\n```/g

export type QuickStart = {
  /** Where the server and the chain are. */
  shop: string
  node: string
  /** Runs a program to its end and gives what it printed. */
  run(file: string, ...args: readonly string[]): Promise<string>
  /** Starts a program, and waits until it answers at an address. */
  start(file: string, url: string): Promise<void>
  /** Imports one of the files. */
  load<module>(file: string): Promise<module>
  /** Bundles a file for the page and gives its size. */
  bundle(file: string): Promise<Uint8Array>
  folder: string
  stop(): Promise<void>
}

/** Writes every file that the two guides name, on ports nobody uses. */
export async function writeQuickStart(): Promise<QuickStart> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-quickstart-'))
  const [chainPort, shopPort] = [await freePort(), await freePort()]
  for (const page of pages)
    for (const [block, file = ''] of readFileSync(
      join(root, page),
      'utf8',
    ).matchAll(named)) {
      const lines = block.split('\n').slice(2, -1).join('\n')
      const text = lines
        .replaceAll(':8545', `:${chainPort}`)
        .replaceAll('port: 8545', `port: ${chainPort}`)
        .replaceAll(':3000', `:${shopPort}`)
        .replaceAll('port: 3000', `port: ${shopPort}`)
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
    }
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const config = { extends: join(root, 'tsconfig.json') }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))

  const running: ChildProcess[] = []
  const program = (file: string) => ['--import', 'tsx', file]
  return {
    folder,
    shop: `http://127.0.0.1:${shopPort}`,
    node: `http://127.0.0.1:${chainPort}`,
    run: (file, ...args) =>
      new Promise((resolve, reject) => {
        const all = [...program(file), ...args]
        const options = { cwd: folder, timeout: 60_000 }
        execFile(process.execPath, all, options, (error, out, problems) =>
          error ? reject(new Error(`${file}: ${problems}`)) : resolve(out),
        )
      }),
    start: (file, url) => {
      const child = spawn(process.execPath, program(file), {
        cwd: folder,
        stdio: ['ignore', 'inherit', 'inherit'],
      })
      running.push(child)
      return waitFor(url, child)
    },
    load: (file) => import(join(folder, file)),
    bundle: async (file) => {
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
    },
    stop: async () => {
      for (const child of running.reverse()) await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Any answer will do. */
async function waitFor(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}`)
    try {
      await fetch(url, { method: 'POST' })
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || !address) throw new Error('no free port')
  return address.port
}
