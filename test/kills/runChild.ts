import { spawn } from 'node:child_process'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'

/** How a child process ended. */
type Ended = {
  code: number | null
  signal: string | null
  /** What it printed, line by line. */
  lines: readonly string[]
  problem: string
}

export type Child = {
  pid: number
  kill: (signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT' | 'SIGTERM') => void
  /** What it printed so far. */
  lines: () => readonly string[]
  ended: Promise<Ended>
}

/** Starts a program with its plan as the only argument. */
export function startChild(file: string, plan: object): Child {
  const child = spawn(process.execPath, [file, JSON.stringify(plan)], {
    // Nothing is written to it: it ends when this process does.
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const out: Buffer[] = []
  const problems: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => problems.push(chunk))
  const lines = () => Buffer.concat(out).toString().split('\n').filter(Boolean)
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code, signal) =>
      resolve({
        code,
        signal,
        lines: lines(),
        problem: Buffer.concat(problems).toString(),
      }),
    )
  })
  if (child.pid === undefined) throw new Error('the child did not start')
  const kill: Child['kill'] = (signal) => child.kill(signal)
  return { pid: child.pid, kill, lines, ended }
}

/** The port that a program serves at, once it has told it. */
export async function portOf({ lines, ended }: Child): Promise<number> {
  let isOver = false
  const over = ended.then(({ problem }) => {
    isOver = true
    return problem
  })
  for (;;) {
    const told = lines().find((line) => line.startsWith('port '))
    if (told) return Number(told.slice('port '.length))
    if (isOver) throw new Error(`ended before it served: ${await over}`)
    await sleep(20)
  }
}
