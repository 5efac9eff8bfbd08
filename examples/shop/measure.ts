/**
 * Prints what a buyer’s first visit loads, as it travels: brotli.
 *
 *     npx tsx examples/shop/measure.ts
 */
import { measurePage } from './server/measurePage.js'

const { chunks, total, countersign } = await measurePage()
for (const { name, bytes } of chunks) console.log(`${show(bytes)}  ${name}`)
console.log(`${show(total)}  in all, of at most 90.0 kB`)
console.log(`${show(countersign)}  of it countersign, of at most 6.0 kB`)

function show(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`.padStart(9)
}
