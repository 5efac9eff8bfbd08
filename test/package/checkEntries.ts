import { deepEqual } from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { entryFiles, importPathOf } from '../../scripts/entryFiles.js'
import { findAnvil } from '../../src/devchain/findAnvil.js'
import { type Consumer, root, run } from './installPackage.js'

/**
 * A fresh Node finds the same names behind an import path as in its source, in
 * the build for Node and in the plain one.
 */
export async function checkEntries({ project }: Consumer): Promise<void> {
  for (const [entry, file] of Object.entries(entryFiles)) {
    const path = importPathOf(entry)
    const program = `console.log(JSON.stringify(Object.keys(await import('${path}'))))`
    const source = await import(join(root, file))
    // The modules of OpenTelemetry for `module` need a bundler.
    const conditions = entry === 'otel' ? ['node'] : ['node', 'module']
    for (const condition of conditions) {
      const names = JSON.parse(runModule(project, program, condition))
      deepEqual(names.sort(), Object.keys(source).sort(), path)
    }
  }
}

/** The optional peers are not installed in the consumer's project. */
export async function checkOptionalPeers({ project }: Consumer): Promise<void> {
  const told = (options: object) =>
    runModule(
      project,
      `
        import { startDevChain } from 'countersign/devchain'
        const options = ${JSON.stringify(options)}
        const error = await startDevChain(options).catch((error) => error)
        console.log(error.name)
      `,
    ).trim()
  const refusal = (store: string) =>
    runModule(
      project,
      `
        import * as stores from 'countersign/sql'
        const error = await stores.${store}.open().catch((error) => error)
        console.log(error.message)
      `,
    ).trim()
  deepEqual(
    refusal(`sqliteStore({ file: 'orders.db' })`),
    'The store needs the package kysely, which is not installed: run npm install kysely.',
  )
  const kysely = join(project, 'node_modules/kysely')
  symlinkSync(join(root, 'node_modules/kysely'), kysely)
  deepEqual(
    refusal(`sqliteStore({ file: 'orders.db' })`),
    'The store needs the package libsql, which is not installed: run npm install libsql.',
  )
  deepEqual(
    refusal(`postgresStore({ connectionString: 'postgres://x' })`),
    'The store needs the package pg, which is not installed: run npm install pg.',
  )
  rmSync(kysely)
  deepEqual(
    runModule(
      project,
      `
        import { loadAccelerator } from 'countersign/accelerate'
        const error = await loadAccelerator().catch((error) => error)
        console.log(error.name)
      `,
    ).trim(),
    'AcceleratorError',
  )
  const binary = await findAnvil()
  deepEqual(told({ binary }), 'AnvilPackageNotFoundError')

  const link = join(project, 'node_modules/@viem')
  symlinkSync(join(root, 'node_modules/@viem'), link)
  const network = { binary, preconfirmations: 'flashblocks' }
  deepEqual(told(network), 'WebSocketPackageNotFoundError')
  deepEqual(told({ binary, token: 'usdc' }), 'UsdcPackageNotFoundError')
  rmSync(link)
}

/** Runs a program in a fresh Node, with a condition for its imports. */
export function runModule(
  project: string,
  program: string,
  condition = 'node',
): string {
  const args = ['--input-type=module', '-C', condition, '--eval', program]
  return run(project, process.execPath, args)
}
