/** Plays the suite where programs run: in Node, Bun and Deno. */
import process from 'node:process'
import { playSuite } from '../suite/playSuite.js'
import type { Report, Setting } from '../suite/types.js'
import { mountServer } from './mountServer.js'

const setting: Setting = JSON.parse(process.argv[2] ?? '')
const results = await playSuite(setting, { mount: mountServer })
const report: Report = { runtime: describeRuntime(), results }
process.stdout.write(JSON.stringify(report))

/** By the names each of them gives itself. */
function describeRuntime(): string {
  const { bun, deno, node } = process.versions
  if (bun) return `Bun ${bun}`
  return deno ? `Deno ${deno}` : `Node ${node}`
}
