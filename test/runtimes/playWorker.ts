import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { promisify } from 'node:util'
import type { InstalledRuntime } from './installRuntimes.js'
import type { Report, Setting } from './suite/types.js'

/** Without the names of Node, which newer workers have by default. */
const configOf = (disk: string) => `
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "suite", worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-11-01",
      compatibilityFlags = ["no_nodejs_compat", "no_nodejs_compat_v2"],
      durableObjectNamespaces = [
        (className = "DurableShop", uniqueKey = "shop", enableSql = true),
      ],
      durableObjectStorage = (localDisk = "disk"),
      bindings = [(name = "SHOPS", durableObjectNamespace = "DurableShop")],
    )),
    (name = "disk", disk = (path = ${JSON.stringify(disk)}, writable = true)),
    (name = "internet", network = (allow = ["local", "private", "public"])),
  ],
  sockets = [
    (name = "http", address = "127.0.0.1:0", http = (), service = "suite"),
  ],
);
`

/** Runs the suite in a worker, which is asked over HTTP. */
export async function playWorker(
  { executable = '' }: InstalledRuntime,
  project: string,
  setting: Setting,
): Promise<Report> {
  const file = join(project, 'config.capnp')
  const disk = join(project, 'objects')
  mkdirSync(disk, { recursive: true })
  writeFileSync(file, configOf(disk))
  const child = spawn(executable, ['serve', '--control-fd=3', file], {
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  try {
    const port = await Promise.race([readPort(child), failed(child, exited)])
    const response = await fetch(`http://127.0.0.1:${port}/`, {
      method: 'POST',
      body: JSON.stringify(setting),
      signal: AbortSignal.timeout(180_000),
    })
    if (!response.ok) throw new Error(await response.text())
    const results = (await response.json()) as Report['results']
    return { runtime: await readVersion(executable), results }
  } finally {
    kill()
    await exited
    process.off('exit', kill)
  }
}

/** Such as `workerd 2026-11-17`; within, it goes by no version. */
async function readVersion(executable: string): Promise<string> {
  const { stdout } = await promisify(execFile)(executable, ['--version'])
  return stdout.trim()
}

/** Where it listens, as it says once it does. */
async function readPort({ stdio }: ChildProcess): Promise<number> {
  let told = ''
  for await (const chunk of stdio[3] as Readable) {
    told += chunk
    const event = told.split('\n').find((line) => line.includes('"listen"'))
    if (event) return JSON.parse(event).port
  }
  return new Promise(() => undefined)
}

async function failed(
  { stderr }: ChildProcess,
  exited: Promise<unknown>,
): Promise<never> {
  let words = ''
  stderr?.on('data', (chunk) => {
    words += chunk
  })
  await exited
  throw new Error(`It ended before it listened: ${words}`)
}
