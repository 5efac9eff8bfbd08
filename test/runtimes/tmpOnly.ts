/**
 * Plays one suite against the packed package in every runtime, and prints what
 * came of each case in each of them.
 *
 *     npm run test:runtimes
 */
import process from 'node:process'
import { startDevChain } from 'countersign/devchain'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { installPackage } from '../package/installPackage.js'
import { bundleHosts } from './bundleHosts.js'
import { type Column, drawTable } from './drawTable.js'
import {
  hasPrograms,
  type InstalledRuntime,
  installRuntimes,
} from './installRuntimes.js'
import { playPage } from './playPage.js'
import { playProgram } from './playProgram.js'
import { playWorker } from './playWorker.js'
import type { Report, Setting } from './suite/types.js'

const began = performance.now()
const installed = (await import('./runtimes.js')).runtimes.map((r) => ({ ...r, executable: r.executable && new URL('node_modules/' + r.executable, import.meta.url).pathname }))
const consumer = installPackage()
process.on('exit', consumer.remove)
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => process.exit(1))
const { project } = consumer
await bundleHosts(project)
const chain = await startDevChain({ blockTime: 0 })
const columns: Column[] = []
try {
  for (const runtime of installed.filter(({ name }) => name === 'workerd')) columns.push(await playOn(runtime))
} finally {
  await chain.stop()
}
for (const line of [...drawTable(columns), ...summarize()])
  process.stdout.write(`${line}\n`)

/** What a runtime answered, or why it could not. */
async function playOn(runtime: InstalledRuntime): Promise<Column> {
  const { name, missing } = runtime
  if (missing && !hasPrograms) return { name, results: [], unavailable: true }
  try {
    if (missing) throw new Error(missing)
    const report = await play(runtime)
    if (!report.runtime.startsWith(name))
      throw new Error(`it is ${report.runtime}`)
    return { name, ...report }
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    return { name, results: [{ name: 'the suite is played', problem }] }
  }
}

async function play(runtime: InstalledRuntime): Promise<Report> {
  const setting = await newSetting()
  if (runtime.kind === 'page') return playPage(project, setting)
  const playIt = runtime.kind === 'worker' ? playWorker : playProgram
  return playIt(runtime, project, setting)
}

/** The chain with parties of its own, so that no runtime sees another's. */
async function newSetting(): Promise<Setting> {
  const keys = {
    payer: generatePrivateKey(),
    merchant: generatePrivateKey(),
    seller: generatePrivateKey(),
  }
  for (const key of Object.values(keys))
    await chain.clients.test.setBalance({
      address: privateKeyToAddress(key),
      value: 10n ** 18n,
    })
  const to = privateKeyToAddress(keys.payer)
  await chain.mint({ to, value: 1_000_000_000n })
  const { token, urls } = chain
  return { ...urls, chainId: chain.chain.id, token, keys }
}

/** What was not played, what was, and how much of it went well. */
function summarize(): string[] {
  const played = columns.filter(({ unavailable }) => !unavailable)
  const results = played.flatMap((column) => column.results)
  const ok = results.filter(({ problem }) => !problem).length
  if (ok < results.length) process.exitCode = 1
  const seconds = Math.round((performance.now() - began) / 1000)
  const absent = columns.filter(({ unavailable }) => unavailable)
  return [
    ...absent.map(
      ({ name }) =>
        `${name} is not available for ${process.platform} on ${process.arch}`,
    ),
    played.map(({ runtime, name }) => runtime ?? name).join(', '),
    `${ok} of ${results.length} ok, on ${played.length} runtimes, in ${seconds} s`,
  ]
}
