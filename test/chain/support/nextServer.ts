import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { pageAssets } from '../../../scripts/bundlePages.js'
import { entryFiles, importPathOf } from '../../../scripts/entryFiles.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))

type NextServer = { url: string; stop(): Promise<void> }

/**
 * Starts `next dev` with one route, `/weather/[city]`, which is `nextRoute.ts`.
 * The app lies in a folder of the repository, so that it finds the packages.
 */
export async function startNextServer(
  env: Record<string, string>,
): Promise<NextServer> {
  const folder = await mkdtemp(join(root, 'test', 'next-'))
  const port = await freePort()
  await bundleRoute(join(folder, 'app', 'weather', '[city]', 'route.js'))
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  const child = spawn(
    process.execPath,
    [
      join(root, 'node_modules/next/dist/bin/next'),
      'dev',
      folder,
      '--hostname',
      '127.0.0.1',
      '--port',
      String(port),
    ],
    {
      env: { ...process.env, ...env, NEXT_TELEMETRY_DISABLED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  let output = ''
  const collect = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', collect)
  child.stderr.on('data', collect)
  const ended = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await ended
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  while (!output.includes('Ready')) {
    if (child.exitCode !== null) {
      await stop()
      throw new Error(`Next did not start: ${output}`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return { url: `http://127.0.0.1:${port}`, stop }
}

async function bundleRoute(outfile: string): Promise<void> {
  await build({
    absWorkingDir: root,
    entryPoints: ['test/chain/support/nextRoute.ts'],
    alias: {
      ...Object.fromEntries(
        Object.entries(entryFiles).map(([entry, path]) => [
          importPathOf(entry),
          join(root, path),
        ]),
      ),
      // Next knows its own modules by this name.
      'next/navigation.js': 'next/navigation',
    },
    outfile,
    bundle: true,
    // What Next catches must be its own.
    external: ['next/*'],
    plugins: [pageAssets(root)],
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'silent',
  })
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address ? address.port : 0
}
