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
  /** Blocks from `latest` to `safe`, and from there to `finalized`. */
  epochBlocks?: number | undefined
  /** Mines blocks on demand only, with transactions in order of arrival. */
  noMining?: boolean | undefined
}

type RunningAnvil = { port: number; stop: () => Promise<void> }

const host = '127.0.0.1'

/**
 * Starts anvil and resolves once it listens.
 *
 * @throws {@link AnvilPackageNotFoundError} when `@viem/anvil` is missing.
 * @throws {@link AnvilStartError} when the program does not start.
 */
export async function launchAnvil(
  parameters: LaunchAnvilParameters,
): Promise<RunningAnvil> {
  if (parameters.port) return launchAt(parameters.port, parameters)

  // Another process may take a free port before anvil does.
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
  // The types of the package do not name these options of anvil.
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
    // Long, for busy machines: if anvil cannot start, it exits at once.
    startTimeout: 600_000,
    // stop() leaves a timer of this length behind; the exit is awaited below.
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

/** Where running nodes write states to disk. */
const folders = new Set<string>()

/** Creates a folder for a node, which is killed and so cannot clean up. */
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

/** Synchronous, because an exiting process does not wait for promises. */
function removeFolders(): void {
  for (const folder of folders) rmSync(folder, removal)
}

// Tried again, because the node may still be writing.
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
