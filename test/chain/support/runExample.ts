import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { startDevChain } from 'countersign/devchain'
import { afterAll, expect } from 'vitest'
import { openShop } from '../../../examples/demo/openShop.js'

export const root = fileURLToPath(new URL('../../..', import.meta.url))

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
export const shop = await openShop(chain)
afterAll(async () => {
  await shop.close()
  await chain.stop()
})

export type Ended = { code: number | null; stdout: string; stderr: string }

/** Runs a program to its end; none may ever print a signature. */
export async function run(
  file: string,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  const ended = await new Promise<Ended>((resolve) => {
    const all = ['--import', 'tsx', `examples/${file}`, ...args]
    const options = { cwd: root, env }
    const child = execFile(process.execPath, all, options, (_, ...output) => {
      const [stdout, stderr] = output
      resolve({ code: child.exitCode, stdout, stderr })
    })
  })
  expect(ended.stdout + ended.stderr).not.toMatch(/[\da-f]{130}/i)
  return ended
}

/** What programs of ours have left there. */
export function foldersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => name.startsWith('countersign-'))
}

export function urlIn(text: string): string {
  return /http:\/\/[\d.:]+/.exec(text)?.[0] ?? 'no address was printed'
}
