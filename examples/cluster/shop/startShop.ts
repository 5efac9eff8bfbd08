import { spawn } from 'node:child_process'
import { createWriteStream, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { findPort } from '../../worker/findPort.js'
import { type Program, signalAll, startProgram } from '../machine/program.js'
import type { Shop } from './shop.js'

/** A process that is started again whenever it ends, as a supervisor does. */
type Kept = {
  name: string
  /** How often it ended by itself. */
  ends: readonly string[]
  kill(): void
  stop(): void
}

export type RunningShop = {
  workers: readonly Kept[]
  webs: readonly Kept[]
  /** Of the web processes, each with the payment handler's path. */
  urls: readonly string[]
  /** Runs a command of the library's command line. Returns what it printed. */
  command(name: string): Promise<{ code: number | null; printed: string }>
  stop(): void
}

const inRoot = (path: string) =>
  fileURLToPath(new URL(`../../../${path}`, import.meta.url))
const own = (name: string) =>
  fileURLToPath(new URL(`${name}.ts`, import.meta.url))
const node = ['--import', 'tsx']

/** Two workers and two web processes. They share the database alone. */
export async function startShop(
  shop: Shop,
  folder: string,
): Promise<RunningShop> {
  const file = join(folder, 'shop.json')
  writeFileSync(file, JSON.stringify(shop), { mode: 0o600 })
  const env = { SHOP: file }
  const keep = (name: string, program: string, more = {}): Kept =>
    keepRunning(name, () =>
      startProgram(name, process.execPath, {
        args: [...node, own(program)],
        log: join(folder, `${name}.log`),
        env: { ...env, ...more },
      }),
    )
  const ports = [await findPort(), await findPort()]
  const webs = ports.map((port, at) =>
    keep(`web-${at + 1}`, 'web', { PORT: String(port) }),
  )
  const workers = [1, 2].map((at) => keep(`worker-${at}`, 'worker'))
  return {
    workers,
    webs,
    urls: ports.map((port) => `http://127.0.0.1:${port}/payments`),
    command: (name) =>
      run(
        [inRoot('src/cli/bin.ts'), name, '--config', own('countersign.config')],
        env,
        join(folder, 'commands.log'),
      ),
    stop: () => {
      for (const one of [...workers, ...webs]) one.stop()
    },
  }
}

function keepRunning(name: string, start: () => Program): Kept {
  const ends: string[] = []
  let isOver = false
  let program: Program
  const go = () => {
    program = start()
    void program.ended.then(async (how) => {
      if (isOver) return
      if (how !== 'SIGKILL') ends.push(how)
      await setTimeout(1_000)
      if (!isOver) go()
    })
  }
  go()
  const kill = () => signalAll([program.pid], 'SIGKILL')
  return {
    name,
    ends,
    kill,
    stop: () => {
      isOver = true
      kill()
    },
  }
}

async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  log: string,
): Promise<{ code: number | null; printed: string }> {
  const child = spawn(process.execPath, [...node, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const lines = createWriteStream(log, { flags: 'a' })
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      printed += text
      lines.write(text)
    })
  const code = await new Promise<number | null>((resolve) =>
    child.once('exit', resolve),
  )
  lines.end()
  return { code, printed }
}
