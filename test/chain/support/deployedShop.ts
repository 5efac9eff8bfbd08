import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { setTimeout } from 'node:timers/promises'
import type { DevChain } from 'countersign/devchain'
import type { Address, Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'

/** What an operator of `examples/deploy` gives to its processes. */
export type DeployedShop = {
  merchant: Address
  apiKey: string
  /** A folder that goes in the end. */
  folder: string
  /** Settings, with the folders of the secrets that each process gets. */
  envOf: (program: 'web' | 'worker') => Record<string, string>
  remove(): void
}

/** A merchant nobody has seen before, in a file if no database is named. */
export async function stockShop(
  chain: DevChain,
  databaseUrl?: string | undefined,
): Promise<DeployedShop> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-deploy-'))
  const key: Hex = generatePrivateKey()
  const { address: merchant } = privateKeyToAccount(key)
  await chain.clients.test.setBalance({ address: merchant, value: 10n ** 19n })
  const apiKey = 'a key that a test made up'
  const shared = {
    'node-url': chain.urls.http,
    'sealing-key': '5a'.repeat(32),
    ...(databaseUrl === undefined ? {} : { 'database-url': databaseUrl }),
  }
  const own = { web: { 'api-key': apiKey }, worker: { 'merchant-key': key } }
  const state = join(folder, 'state')
  mkdirSync(state)
  for (const [program, secrets] of Object.entries(own)) {
    mkdirSync(join(folder, program))
    for (const [name, secret] of Object.entries({ ...shared, ...secrets }))
      writeFileSync(join(folder, program, name), `${secret}\n`, { mode: 0o600 })
  }
  return {
    merchant,
    apiKey,
    folder,
    envOf: (program) => ({
      CHAIN_ID: String(chain.chain.id),
      TOKEN: chain.token,
      MERCHANT: merchant,
      CREDENTIALS_DIRECTORY: join(folder, program),
      STATE_DIRECTORY: state,
    }),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** How a process ended after its SIGTERM. */
type Ended = {
  code: number | null
  signal: NodeJS.Signals | null
  milliseconds: number
}

export type DeployedProcess = {
  /** Address of the probes. */
  url: string
  printed: () => string
  /** Asks a probe, and returns its status; 0 if nobody listens. */
  probe(name: 'livez' | 'readyz'): Promise<number>
  /** Waits until the process is ready. Fails if it ends. */
  ready(): Promise<void>
  /** Sends SIGTERM, and waits for the end. */
  stop(): Promise<Ended>
  /** Ends it at once, if it runs. */
  kill(): void
}

type StartProcess = {
  cwd?: string | undefined
  env: Readonly<Record<string, string>>
  port: number
}

/** Starts a process with nothing of this one's environment but the path. */
export function startProcess(
  [command = '', ...args]: readonly string[],
  { cwd, env, port }: StartProcess,
): DeployedProcess {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH, ...env, PORT: String(port) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => {
      printed += text
    })
  const ended = once(child, 'exit') as Promise<[Ended['code'], Ended['signal']]>
  const url = `http://127.0.0.1:${port}/payments`
  const probe: DeployedProcess['probe'] = async (name) => {
    const asked = fetch(`${url}/${name}`, {
      signal: AbortSignal.timeout(5_000),
    })
    const { status } = await asked.catch(() => ({ status: 0 }))
    return status
  }
  return {
    url,
    printed: () => printed,
    probe,
    ready: async () => {
      while ((await probe('readyz')) !== 200) {
        if (child.exitCode !== null)
          throw new Error(`ended with ${child.exitCode}: ${printed}`)
        await setTimeout(100)
      }
    },
    stop: async () => {
      const start = performance.now()
      child.kill('SIGTERM')
      const [code, signal] = await ended
      const milliseconds = Math.round(performance.now() - start)
      return { code, signal, milliseconds }
    },
    kill: () => void child.kill('SIGKILL'),
  }
}
