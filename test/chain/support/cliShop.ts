import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { DevChain } from 'countersign/devchain'
import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
import { createReadClient } from 'countersign/reads'
import { sqliteStore } from 'countersign/sql'
import { createClient, http } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { runCli } from '../../../src/cli/runCli.js'
import type { CliIo, ExitCode } from '../../../src/cli/terminal/types.js'

/** What a command printed, and its exit code. */
export type Ran = { code: ExitCode; stdout: string; stderr: string }

/** A shop in an SQLite file, and commands over its configuration. */
export type CliShop = {
  folder: string
  file: string
  merchantKey: `0x${string}`
  /** Fresh parameters of `createOrders`, as the configuration exports them. */
  parameters(changes?: Partial<CreateOrdersParameters>): CreateOrdersParameters
  run(args: readonly string[], io?: Partial<CliIo>): Promise<Ran>
}

const packageFolder = fileURLToPath(new URL('../../..', import.meta.url))

/** A folder with a configuration; the merchant has ether. */
export async function openCliShop(
  chain: DevChain,
  changes: Partial<CreateOrdersParameters> = {},
): Promise<CliShop> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'))
  const file = join(folder, 'orders.db')
  const merchantKey = generatePrivateKey()
  const account = privateKeyToAccount(merchantKey)
  const { address } = account
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  writeFileSync(join(folder, 'countersign.config.mjs'), '')
  const url = chain.urls.http
  const parameters = (own: Partial<CreateOrdersParameters> = {}) => ({
    store: sqliteStore({ file }),
    seal: 'none' as const,
    tokens: [
      {
        client: createReadClient({ chain: chain.chain, url }),
        token: chain.token,
      },
    ],
    wallets: [
      createClient({ account, chain: chain.chain, transport: http(url) }),
    ],
    ...changes,
    ...own,
  })
  return {
    folder,
    file,
    merchantKey,
    parameters,
    run: (args, io) =>
      runCommand(args, {
        cwd: folder,
        load: async () => ({ default: parameters() }),
        ...io,
      }),
  }
}

/** Opens the orders of a shop as its server does. */
export function openServer(shop: CliShop) {
  return createOrders(shop.parameters())
}

/** Runs a command in this process. */
export async function runCommand(
  args: readonly string[],
  io: Partial<CliIo>,
): Promise<Ran> {
  const printed = { stdout: '', stderr: '' }
  const code = await runCli(args, {
    stdin: (async function* () {})(),
    stdout: {
      write: (text) => {
        printed.stdout += text
      },
    },
    stderr: {
      write: (text) => {
        printed.stderr += text
      },
    },
    env: {},
    cwd: tmpdir(),
    isTerminal: false,
    isErrorTerminal: false,
    packageFolder,
    untilInterrupted: async () => undefined,
    load: (path) => import(path),
    ...io,
  })
  return { code, ...printed }
}

/** Standard input that holds this text. */
export async function* typed(text: string): AsyncGenerator<string> {
  yield text
}
