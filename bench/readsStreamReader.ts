import { createReadClient } from 'countersign/reads'
import { createPublicClient, erc20Abi, getAbiItem, http } from 'viem'
import { iterateLogs } from 'viem/actions'

/**
 * Reads transfers and tells how much memory that took; runs in a process of
 * its own, where nothing else takes any.
 */
const [, reader, url, wanted] = process.argv
const total = Number(wanted)
const blocks = {
  fromBlock: 2_000_000n,
  toBlock: 2_000_000n + BigInt(total / 5) - 1n,
}
let read = 0
const samples: number[] = []

function take(logs: readonly unknown[]): void {
  read += logs.length
  samples.push(process.memoryUsage.rss())
}

const start = performance.now()
if (reader !== 'viem') {
  const prefetch = reader === 'prefetch: 0' ? { prefetch: 0 } : {}
  const client = createReadClient({ url })
  for await (const { logs } of client.streamLogs({ ...blocks, ...prefetch }))
    take(logs)
} else {
  const client = createPublicClient({ transport: http(url) })
  const event = getAbiItem({ abi: erc20Abi, name: 'Transfer' })
  // In pages of its own choice, as ours.
  for await (const { logs } of iterateLogs(client, { event, ...blocks }))
    take(logs)
}
if (read !== total) throw new Error(`Read ${read} logs of ${total}.`)

/** The highest of a part of the samples, in MB. */
const peakBetween = (from: number, to: number): number =>
  Math.max(...samples.slice(from * samples.length, to * samples.length)) /
  2 ** 20

console.log(
  JSON.stringify({
    seconds: (performance.now() - start) / 1000,
    peak: process.resourceUsage().maxRSS / 1024,
    secondQuarter: peakBetween(0.25, 0.5),
    lastQuarter: peakBetween(0.75, 1),
  }),
)
