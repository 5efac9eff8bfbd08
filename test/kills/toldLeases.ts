import { writeSync } from 'node:fs'
import type { Lease } from 'countersign/store'

const mark = 'lease '

/** Prints a lease at once, for whoever outlives this process. */
export function tellLease({ key, owner, fence }: Lease): void {
  writeSync(1, `${mark}${JSON.stringify({ key, owner, fence: `${fence}` })}\n`)
}

/** The leases a process told of, the newest of each key. */
export function readLeases(lines: readonly string[]): Lease[] {
  const leases = lines
    .filter((line) => line.startsWith(mark))
    .map(
      (line): Record<keyof Lease, string> =>
        JSON.parse(line.slice(mark.length)),
    )
    .map(({ key, owner, fence }) => ({ key, owner, fence: BigInt(fence) }))
  return [...new Map(leases.map((lease) => [lease.key, lease])).values()]
}
