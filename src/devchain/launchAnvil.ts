import { rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { loadPeer, notLoaded } from '../core/peers.js'
import { AnvilPackageNotFoundError, AnvilStartError } from './errors.js'

type LaunchAnvilParameters = {
  binary: string
  accounts: number
  mnemonic: string
  chainId: number
  port?: number | undefined
  blockTime?: number | undefined
  forkUrl?: string | undefined
  /**
   * Number of blocks by which `safe` is behind `latest`, and `finalized` behind
   * `safe`.
   */
  epochBlocks?: number | undefined
  /**
   * True to mine blocks only on request, with transactions in order of arrival.
   */
  noMining?: boolean | undefined
}

type RunningAnvil = { port: number; stop: () => Promise<void> }

const host = '127.0.0.1'

/**
 * Starts anvil and resolves once it accepts connections.
 *
 * @throws {@link AnvilPackageNotFoundError} when `@viem/anvil` is missing.
 * @throws {@link AnvilStartError} when the program does not start.
 */
export async function launchAnvil(
  parameters: LaunchAnvilParameters,
): Promise<RunningAnvil> {
  if (parameters.port) return launchAt(parameters.port, parameters)

  // Another process may take the free port before anvil does. Then tries again
  // with another port.
  for (let attempt = 1; ; attempt++) {
    try {
      return await launchAt(await freePort(), parameters)
    } catch (error) {
      if (attempt === 5 || !isPortTaken(error)) throw error
    }
  }
}

async function launchAt(
  port: number,
  {
    binary,
    blockTime,
    forkUrl,
    noMining,
    epochBlocks = 1,
    ...options
  }: LaunchAnvilParameters,
): Promise<RunningAnvil> {
  const { createAnvil } = await importAnvil()
  const cachePath = await openFolder()
  // anvil has these options, but they are missing in the types of
  // `@viem/anvil`.
  const unnamed = { slotsInAnEpoch: epochBlocks, cachePath }
  const anvil = createAnvil({
    ...options,
    host,
    port,
    anvilBinary: binary,
    ...(blockTime && !noMining ? { blockTime } : {}),
    ...(noMining ? { noMining, order: 'fifo' } : {}),
    ...(forkUrl ? { forkUrl } : {}),
    ...unnamed,
    // Milliseconds, long because a busy machine starts anvil slowly. If anvil
    // cannot start at all, it exits at once and this time is not waited for.
    startTimeout: 600_000,
    // Milliseconds, short because `stop()` leaves a timer of this length, which
    // would keep the process alive. The end of anvil is awaited below.
    stopTimeout: 1,
    execArgs: ([file, args, execOptions]) => [
      file,
      args,
      { ...execOptions, buffer: false, killSignal: 'SIGKILL' },
    ],
  })
  const exited = new Promise<void>((resolve) =>
    anvil.on('exit', () => resolve()),
  )
  await anvil.start().catch(async (error: unknown) => {
    await removeFolder(cachePath)
    const reason = error instanceof Error ? error.message : String(error)
    throw new AnvilStartError({ reason })
  })
  return {
    port,
    stop: async () => {
      await anvil.stop().catch(() => undefined)
      await exited
      await removeFolder(cachePath)
    },
  }
}

/** Folders in which running nodes store chain states. */
const folders = new Set<string>()

/**
 * Creates a folder for a node's files. This process removes it, because the
 * node is ended by SIGKILL and cannot.
 */
async function openFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'countersign-anvil-'))
  if (folders.size === 0) process.once('exit', removeFolders)
  folders.add(folder)
  return folder
}

async function removeFolder(folder: string): Promise<void> {
  await rm(folder, removal)
  folders.delete(folder)
  if (folders.size === 0) process.off('exit', removeFolders)
}

/**
 * Removes the folders. Synchronous, because a process that is exiting does not
 * wait for promises.
 */
function removeFolders(): void {
  for (const folder of folders) rmSync(folder, removal)
}

// Tries again, because a node that is just ending may still write into the
// folder.
const removal = { recursive: true, force: true, maxRetries: 3 }

async function importAnvil(): Promise<typeof import('@viem/anvil')> {
  return loadPeer(
    { name: '@viem/anvil', from: '0.0.10' },
    import('@viem/anvil').catch(notLoaded),
    (problem) => new AnvilPackageNotFoundError(problem),
  )
}

function isPortTaken(error: unknown): boolean {
  return error instanceof AnvilStartError && /in use/i.test(error.message)
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, host, resolve)
  })
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (typeof address !== 'object' || !address)
    throw new AnvilStartError({ reason: 'no free port' })
  return address.port
}
