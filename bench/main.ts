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
import process from 'node:process'
import { parseArgs } from 'node:util'
import { drawPlots } from '../scripts/drawPlots.js'
import { type Bench, benches, smallest } from './benches.js'
import { sendLast } from './childMessages.js'
import type { Row } from './compare.js'
import { isFresh, mergeRows, readResults, writeResults } from './results.js'
import { runApart } from './runApart.js'
import { beSmall } from './sized.js'

const { run, only, missing, smoke, ...given } = parseArgs({
  options: {
    claim: { type: 'string' },
    growth: { type: 'string' },
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
  // Whoever started it is gone: it ends with the nodes that it started.
  process.once('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
  await sendLast(await bench.run(asked))
  process.exit()
}

async function runAll(): Promise<void> {
  process.stdout.write(
    `${cell('name', 38)} ${cell('peer', 36)} ${'ratio'.padStart(6)} ${'goal'.padStart(6)} unit\n`,
  )
  for (const bench of benches.filter(isWanted)) {
    const options = process.argv.slice(2)
    const rows = await runApart(bench, options).catch((error: Error) => {
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
