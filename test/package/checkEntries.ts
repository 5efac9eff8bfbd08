import { deepEqual } from 'node:assert/strict'
import process from 'node:process'
import { entryNames } from './checkContents.js'
import { type Consumer, run } from './installPackage.js'

/** A fresh Node finds the same names behind an import path as in its source. */
export async function checkEntries({ project }: Consumer): Promise<void> {
  for (const name of entryNames()) {
    const path = name === 'index' ? 'countersign' : `countersign/${name}`
    const program = `console.log(JSON.stringify(Object.keys(await import('${path}'))))`
    const source = await import(`../../src/entries/${name}.js`)
    const names = JSON.parse(runModule(project, program))
    deepEqual(names.sort(), Object.keys(source).sort(), path)
  }
}

/** The optional peer is not installed in the consumer's project. */
export function checkOptionalPeer({ project }: Consumer): void {
  const program = `
    import { startDevChain } from 'countersign/devchain'
    const { execPath: binary } = process
    const error = await startDevChain({ binary }).catch((error) => error)
    console.log(error.name)
  `
  const told = runModule(project, program).trim()
  deepEqual(told, 'AnvilPackageNotFoundError')
}

function runModule(project: string, program: string): string {
  const args = ['--input-type=module', '--eval', program]
  return run(project, process.execPath, args)
}
