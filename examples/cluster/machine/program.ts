import { execFileSync, spawn } from 'node:child_process'
import { chownSync, createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'

export type Program = {
  name: string
  pid: number
  /** Resolves with how it ended. */
  ended: Promise<string>
}

type StartProgram = {
  args: readonly string[]
  /** Where its output goes. */
  log: string
  env?: Readonly<Record<string, string>> | undefined
  user?: DatabaseUser | undefined
}

export function startProgram(
  name: string,
  command: string,
  { args, log, env, user }: StartProgram,
): Program {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...user,
  })
  const lines = createWriteStream(log, { flags: 'a' })
  child.stdout.pipe(lines, { end: false })
  child.stderr.pipe(lines, { end: false })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`))
  })
  return { name, pid: child.pid ?? 0, ended }
}

const script = fileURLToPath(new URL('../files/start.sh', import.meta.url))

/**
 * Starts a part of the cluster as its container would, with settings from the
 * environment. They are written to a folder of its own.
 */
export function startPart(
  part: 'etcd' | 'patroni' | 'haproxy' | 'pgbouncer',
  {
    name = part,
    folder,
    settings,
  }: {
    name?: string
    folder: string
    settings: Readonly<Record<string, string | number | boolean>>
  },
): Program {
  const own = join(folder, name)
  const user = databaseUser()
  mkdirSync(own, { recursive: true, mode: 0o700 })
  if (user.uid !== undefined && user.gid !== undefined)
    chownSync(own, user.uid, user.gid)
  const given = Object.entries({ RUN: own, ...settings })
  return startProgram(name, 'sh', {
    args: [script, part],
    log: join(folder, `${name}.log`),
    env: Object.fromEntries(given.map(([key, value]) => [key, String(value)])),
    user,
  })
}

type DatabaseUser = { uid?: number; gid?: number }

/** PostgreSQL does not run as root. */
function databaseUser(): DatabaseUser {
  if (process.getuid?.() !== 0) return {}
  const idOf = (kind: '-u' | '-g') =>
    Number(execFileSync('id', [kind, 'postgres']))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Sends a signal to processes and all that they started. */
export function signalAll(
  roots: readonly number[],
  signal: NodeJS.Signals,
): void {
  for (const pid of treeOf(roots))
    try {
      process.kill(pid, signal)
    } catch {
      // It has ended.
    }
}

function treeOf(roots: readonly number[]): readonly number[] {
  const table = execFileSync('ps', ['-e', '-o', 'pid=,ppid='], {
    encoding: 'utf8',
  })
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const tree = new Set(roots.filter((pid) => pid > 0))
  for (const pid of tree)
    for (const [child = 0, parent = 0] of table)
      if (parent === pid) tree.add(child)
  return [...tree]
}
