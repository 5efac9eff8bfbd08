/**
 * Measures against peers, each bench in a process of its own, and keeps its rows
 * as soon as it has them.
 *
 *     npm run bench                            everything that takes no flag
 *     npm run bench -- --missing               what has no rows, or stale ones
 *     npm run bench -- --only importTime,recovery
 *     npm run bench -- --smoke                 all of them, as small as can be:
 *                                              keeps no rows
 */
import { fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { drawPlots } from '../scripts/drawPlots.js'
import { type Bench, benches, smallest } from './benches.js'
import { nextMessage, sendLast } from './childMessages.js'
import type { Row } from './compare.js'
import { isFresh, mergeRows, readResults, writeResults } from './results.js'
import { beSmall } from './sized.js'

const { run, only, missing, smoke, ...given } = parseArgs({
  options: {
    claim: { type: 'string' },
    load: { type: 'string' },
    million: { type: 'string' },
    page: { type: 'boolean' },
    seconds: { type: 'string' },
    shop: { type: 'string' },
    only: { type: 'string' },
    missing: { type: 'boolean' },
    run: { type: 'string' },
    smoke: { type: 'boolean' },
  },
}).values

const asked = smoke ? { ...smallest, ...given } : given
if (smoke) beSmall()

if (run) await runHere(run)
else await runAll()

/** The child's side: measures one bench, and ends. */
async function runHere(name: string): Promise<void> {
  const bench = benches.find((it) => it.name === name)
  if (!bench) throw new Error(`There is no bench ${name}.`)
  await sendLast(await bench.run(asked))
  process.exit()
}

async function runAll(): Promise<void> {
  process.stdout.write(
    `${cell('name', 38)} ${cell('peer', 36)} ${'ratio'.padStart(6)} ${'goal'.padStart(6)} unit\n`,
  )
  for (const bench of benches.filter(isWanted)) {
    const rows = await runApart(bench).catch((error: Error) => {
      process.exitCode = 1
      process.stdout.write(`${bench.name}: ${error.message}\n`)
    })
    if (!rows) continue
    for (const row of rows) process.stdout.write(`${showRow(row)}\n`)
    if (smoke) continue
    writeResults(mergeRows(readResults(), bench.name, rows))
    drawPlots()
  }
}

function isWanted({ name, flag }: Bench): boolean {
  if (only) return only.split(',').includes(name)
  if (flag && !asked[flag]) return false
  return !missing || !isFresh(readResults(), name)
}

/** @throws when it fails, or takes longer than it may. */
async function runApart({ name, minutes }: Bench): Promise<Row[]> {
  // The leader of a group, so that the nodes it started end with it.
  const child = fork(
    fileURLToPath(import.meta.url),
    [...process.argv.slice(2), '--run', name],
    { detached: true },
  )
  let isLate = false
  const endAll = () => {
    try {
      if (child.pid) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // The group has ended already.
    }
  }
  const timer = setTimeout(() => {
    isLate = true
    endAll()
  }, minutes * 60_000)
  process.once('exit', endAll)
  try {
    return (await nextMessage(child)) as Row[]
  } catch (error) {
    throw isLate ? new Error(`Stopped after ${minutes} minutes.`) : error
  } finally {
    clearTimeout(timer)
    process.off('exit', endAll)
    endAll()
  }
}

function cell(value: string | number, width: number): string {
  return typeof value === 'string'
    ? value.padEnd(width)
    : value.toFixed(2).padStart(width)
}

function showRow({ name, peer, ratio, goal, unit, why }: Row): string {
  const isMissed = goal > 0 && !(ratio >= goal)
  const met = goal === 0 ? '' : isMissed ? 'MISSED' : 'met'
  const wanted = goal === 0 ? cell('', 6) : cell(goal, 6)
  const reason = isMissed && why ? `\n    ${why}` : ''
  return `${cell(name, 38)} ${cell(peer, 36)} ${cell(ratio, 6)} ${wanted} ${unit.padEnd(4)} ${met}${reason}`
}
