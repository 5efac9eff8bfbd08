import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { installRuntimes } from '../runtimes/installRuntimes.js'
import { folder as runtimes } from '../runtimes/runtimes.js'

/** Objects with SQLite on a disk, without the names of Node. */
const configOf = (disk: string) => `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "shops", worker = (
      modules = [(name = "shop.js", esModule = embed "shop.js")],
      compatibilityDate = "2026-11-01",
      compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
      durableObjectNamespaces = [
        (className = "KilledShop", uniqueKey = "shop", enableSql = true),
      ],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "SHOPS", durableObjectNamespace = "KilledShop")],
    )),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true)),
    (name = "internet", network = (allow = ["local", "private", "public"])),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "shops"),
  ],
);
`

export type Workerd = {
  url: string
  /** Resolves when the runtime has printed a line with this text. */
  printed(text: string): Promise<void>
  kill(): Promise<void>
}

/** Finds workerd among the runtimes, and installs them if they are missing. */
export function findWorkerd(): string {
  const file = join(
    runtimes,
    'node_modules/@cloudflare/workerd-linux-64/bin/workerd',
  )
  if (!existsSync(file)) installRuntimes()
  return file
}

/**
 * Starts workerd with the program `shop.js` of a folder. Its objects stay in
 * that folder.
 */
export async function startWorkerd(
  executable: string,
  folder: string,
): Promise<Workerd> {
  const disk = join(folder, 'objects')
  mkdirSync(disk, { recursive: true })
  const file = join(folder, 'config.capnp')
  writeFileSync(file, configOf(disk))
  const child = spawn(executable, ['serve', '--control-fd=3', file], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  let lines = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk) => {
      lines += chunk
      for (const listener of listeners) listener()
    })
  const port = await Promise.race([
    readPort(child),
    exited.then(() => {
      throw new Error(`workerd ended before it listened: ${lines}`)
    }),
  ])
  return {
    url: `http://127.0.0.1:${port}`,
    printed: (text) =>
      new Promise((resolve) => {
        const look = () => {
          if (lines.includes(text)) resolve()
        }
        listeners.add(look)
        look()
      }),
    kill: async () => {
      end()
      await exited
      process.off('exit', end)
    },
  }
}

async function readPort({ stdio }: ChildProcess): Promise<number> {
  let told = ''
  for await (const chunk of stdio[3] as Readable) {
    told += chunk
    const event = told.split('\n').find((line) => line.includes('"listen"'))
    if (event) return JSON.parse(event).port
  }
  return new Promise(() => undefined)
}
