import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import process from 'node:process'
import { createInterface } from 'node:readline'
import { findLine } from '../unit/support/findLine.js'
import { dependencies, packOnce, root, run } from './installPackage.js'
import type { Guide } from './openGuide.js'

/** An empty folder in which a reader does what a guide says. */
export type Place = {
  /** Where the reader is now: a command may have gone elsewhere. */
  folder(): string
  /** The ports that stand where the guide prints 8545 and 3000. */
  chainPort: number
  shopPort: number
  /** Writes the next files of the guide, which have to be these. */
  write(guide: Guide, ...names: readonly string[]): void
  writeFile(name: string, text: string): void
  /** The files written, by name, with the ports that the guide prints. */
  written: ReadonlyMap<string, string>
  /**
   * Runs the next command of the guide to its end, and gives what it printed.
   * The values stand where the guide prints `<a value>`.
   */
  run(guide: Guide, command: string, ...values: string[]): Promise<string>
  runCommand(command: string): Promise<string>
  /** Starts the next command of the guide, and waits for a line it prints. */
  start(guide: Guide, command: string, line: RegExp): Promise<string>
  startCommand(command: string, line: RegExp): Promise<string>
  /** Ends the process that was started last. */
  endLast(): Promise<void>
  stop(): Promise<void>
}

/**
 * Opens an empty folder. `npm install` puts the packed package and the named
 * packages of this repository there, and no others, without a registry. The
 * other commands run as they are.
 */
export async function openPlace(): Promise<Place> {
  const home = mkdtempSync(join(tmpdir(), 'countersign-place-'))
  let folder = join(home, 'empty')
  mkdirSync(folder)
  const [chainPort = 0, shopPort = 0] = await freePorts(2)
  const move = (text: string) =>
    text
      .replace(/(?<=:\s?)8545/g, `${chainPort}`)
      .replace(/(?<=:\s?)3000/g, `${shopPort}`)
  const env = environment(home)
  const running: ChildProcess[] = []
  const written = new Map<string, string>()

  const writeFile = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), move(text))
    written.set(name, text)
  }
  const runCommand = async (command: string): Promise<string> => {
    const [, names] = /^npm install (?:--save-dev )?(.+)$/.exec(command) ?? []
    if (names) {
      for (const name of names.split(' ')) install(folder, name)
      return ''
    }
    const [, below] = /^(?:cd (\S+) && )?npm install$/.exec(command) ?? []
    if (below) {
      folder = join(folder, below)
      for (const name of packagesOf(folder)) install(folder, name)
      return ''
    }
    const { printed, end } = await runToEnd(present(folder, command), {
      cwd: folder,
      env,
    })
    folder = end
    return printed
  }
  const startCommand = (command: string, line: RegExp): Promise<string> => {
    // Uses the same port as the other files of the guide.
    const moved = command.replace(
      /^npx countersign dev$/,
      `$& --port ${chainPort}`,
    )
    const child = spawn('bash', ['-c', moved], {
      cwd: folder,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    running.push(child)
    const { stdout } = child
    // What it prints later must find a reader, or it would stop at a full pipe.
    return findLine(createInterface({ input: stdout }), line).finally(() =>
      stdout.resume(),
    )
  }
  return {
    folder: () => folder,
    chainPort,
    shopPort,
    write: (guide, ...names) => {
      for (const name of names) writeFile(name, guide.take(name))
    },
    writeFile,
    written,
    run: (guide, command, ...values) =>
      runCommand(fill(guide.take(command), values)),
    runCommand,
    start: (guide, command, line) => startCommand(guide.take(command), line),
    startCommand,
    endLast: async () => {
      const last = running.pop()
      if (last) await end(last)
    },
    stop: async () => {
      for (const child of running.reverse()) await end(child)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/** Puts values where a command has names in angle brackets. */
function fill(command: string, values: readonly string[]): string {
  let used = 0
  const filled = command.replace(/<[^>]+>/g, () => values[used++] ?? '')
  if (used !== values.length)
    throw new Error(`${command} takes ${used} values, not ${values.length}.`)
  return filled
}

/** What a shell of the reader's has: nothing of the project around us. */
function environment(home: string): NodeJS.ProcessEnv {
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
  return {
    PATH: [dirname(process.execPath), ...path].join(delimiter),
    HOME: home,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
}

/** The packages that a project names. */
function packagesOf(project: string): string[] {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  )
  return Object.keys({
    ...dependencies,
    ...devDependencies,
    ...optionalDependencies,
  })
}

/** Links a package of this repository, and its commands, into a folder. */
function install(folder: string, name: string): void {
  const modules = join(folder, 'node_modules')
  const place = join(modules, name)
  if (existsSync(place)) return
  mkdirSync(join(modules, '.bin'), { recursive: true })
  mkdirSync(dirname(place), { recursive: true })
  if (name === 'countersign') {
    unpack(place)
    // As npm does, with the peer that is not optional.
    for (const one of [...dependencies, 'viem']) install(folder, one)
  } else {
    const source = join(root, 'node_modules', name)
    if (!existsSync(source)) throw new Error(`${name} is not installed here.`)
    symlinkSync(source, place)
  }
  for (const [command, file] of commandsOf(place))
    symlinkSync(join(place, file), join(modules, '.bin', command))
}

function unpack(place: string): void {
  mkdirSync(place)
  run(place, 'tar', ['-xzf', packOnce().tarball, '--strip=1'])
  for (const [, file] of commandsOf(place)) chmodSync(join(place, file), 0o755)
}

function commandsOf(place: string): [command: string, file: string][] {
  const { name, bin } = JSON.parse(
    readFileSync(join(place, 'package.json'), 'utf8'),
  )
  return Object.entries(typeof bin === 'string' ? { [name]: bin } : (bin ?? {}))
}

/**
 * The command, for a package that npx would fetch first: that is unpacked
 * beside the folder, which stays empty.
 */
function present(folder: string, command: string): string {
  if (existsSync(join(folder, 'node_modules'))) return command
  const elsewhere = join(dirname(folder), 'npx')
  return command.replace(/^npx countersign /, () => {
    install(elsewhere, 'countersign')
    return `${join(elsewhere, 'node_modules/.bin/countersign')} `
  })
}

/** Runs a command in a shell of its own, which says where it ended. */
function runToEnd(
  command: string,
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<{ printed: string; end: string }> {
  const script = `set -e\n${command}\nprintf '\\n%s' "$PWD"`
  return new Promise((resolve, reject) => {
    execFile('bash', ['-c', script], options, (error, out, problems) => {
      if (error)
        return reject(new Error(`${command} failed:\n${out}${problems}`))
      const cut = out.lastIndexOf('\n')
      resolve({ printed: out.slice(0, cut), end: out.slice(cut + 1) })
    })
  })
}

/** Ends a command and what it started, as Ctrl+C does. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.pid === undefined) return
  const ended = once(child, 'close')
  process.kill(-child.pid, 'SIGINT')
  await ended
}

/** Ports that nobody uses, all held until all are known. */
async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer())
  const ports = await Promise.all(
    servers.map(async (server) => {
      await once(server.listen(0, '127.0.0.1'), 'listening')
      return (server.address() as AddressInfo).port
    }),
  )
  for (const server of servers) await once(server.close(), 'close')
  return ports
}
