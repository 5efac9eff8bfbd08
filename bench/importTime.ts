import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { compare, type Row } from './compare.js'

const run = promisify(execFile)

/** The built package against viem, each imported by a process of its own. */
export async function benchImport(): Promise<Row[]> {
  const importing = (name: string) => async () => {
    const code = `await import(${JSON.stringify(name)})`
    await run(process.execPath, ['--input-type=module', '--eval', code])
  }
  const { viem = Number.NaN } = await compare('countersign', {
    rounds: 7,
    prepare: () => ({
      countersign: importing('countersign'),
      viem: importing('viem'),
    }),
  })
  return [
    {
      name: 'import of countersign, fresh process',
      peer: 'import of viem',
      ratio: viem,
      goal: 0,
      unit: 'time',
    },
  ]
}
