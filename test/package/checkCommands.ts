import { deepEqual, match } from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { encodePayment } from 'countersign'
import { samplePayment } from 'countersign/testing'
import { commands } from '../../src/cli/runCli.js'
import { type Consumer, run } from './installPackage.js'

/** `npx countersign` runs without the optional packages. */
export function checkCommands({ project, installed }: Consumer): void {
  const { bin, version } = JSON.parse(
    readFileSync(join(installed, 'package.json'), 'utf8'),
  )
  const file = join(installed, bin.countersign)
  match(readFileSync(file, 'utf8'), /^#!\/usr\/bin\/env node\n/)
  const call = (...args: readonly string[]) =>
    run(project, process.execPath, [file, ...args])
  deepEqual(call('--version').trim(), version)
  const listed = call('--help').match(/^ {2}\w+/gm) ?? []
  deepEqual(
    listed.map((line) => line.trim()),
    commands.map(({ name }) => name),
  )
  for (const { name, summary } of commands)
    match(call(name, '--help'), new RegExp(summary.replace(/[.?]/g, '.')))

  const folder = mkdtempSync(join(project, 'init-'))
  call('init', folder)
  deepEqual(
    ['countersign.config.ts', 'package.json', 'server.ts'].filter(
      (wanted) => !readdirSync(folder).includes(wanted),
    ),
    [],
  )
  const now = BigInt(Math.floor(Date.now() / 1000))
  const payment = samplePayment({
    validAfter: now - 60n,
    validBefore: now + 900n,
  })
  const written = join(folder, 'payment.json')
  writeFileSync(written, encodePayment(payment))
  match(call('explain', written), /^ReceiveWithAuthorization\n/)
}
