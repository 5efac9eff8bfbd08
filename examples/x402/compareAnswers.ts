import { setTimeout as wait } from 'node:timers/promises'
import { type DevChain, startDevChain } from 'countersign/devchain'
import { createBuyer } from './client.js'
import { serveApp, serveWeather } from './server.js'
import { createStockApp } from './stockServer.js'

/** Milliseconds. */
const tick = 200
/** Seconds. */
const blockTime = 2

/**
 * Buys from a server with countersign and from a stock one in turn, on a chain
 * with pre-confirmations, and prints how long their answers took.
 */
export async function compareAnswers(count: number): Promise<void> {
  if (!(Number.isSafeInteger(count) && count > 0))
    throw new RangeError('--requests must be a whole number above 0.')
  const chain = await startDevChain({
    preconfirmations: 'flashblocks',
    blockTime,
    tick,
  })
  const own = await serveWeather(chain, { answerAt: 'preconfirmed' })
  const stock = await serveStock(chain)
  try {
    const took = { countersign: [] as number[], stock: [] as number[] }
    const pay = createBuyer(chain, fetch)
    const time = async (url: string): Promise<number> => {
      // Each asks at another moment between two ticks.
      await wait((tick * took.stock.length) / count)
      const start = performance.now()
      const response = await pay(`${url}/weather?city=Ulm`)
      await response.text()
      if (response.status !== 200)
        throw new Error(`${url} answered ${response.status}.`)
      return performance.now() - start
    }
    // The first of each opens connections.
    for (const { url } of [own, stock]) await time(url)
    for (let done = 0; done < count; done++) {
      took.countersign.push(await time(own.url))
      took.stock.push(await time(stock.url))
    }
    console.log(
      `${count} paid answers of each, ticks of ${tick} ms, blocks of ${blockTime} s. Milliseconds from the first request to the answer:\n`,
    )
    for (const line of describeTimes(took)) console.log(line)
  } finally {
    await stock.stop()
    await own.stop()
    await chain.stop()
  }
}

async function serveStock(chain: DevChain): ReturnType<typeof serveApp> {
  const { account } = chain.clients.relayer
  const url = chain.urls.http
  return serveApp(
    await createStockApp(chain, { url, account, isTicking: true }),
  )
}

const shares = [0, 0.1, 0.5, 0.9, 0.99, 1]

/** Milliseconds of one bar. */
const step = 50

/** The distribution of each list: a table of shares, then bars. Pure. */
function describeTimes(
  took: Readonly<Record<string, readonly number[]>>,
): string[] {
  const lists = Object.entries(took).map(
    ([name, times]) => [name, [...times].sort((a, b) => a - b)] as const,
  )
  const heads = ['fastest', '10%', '50%', '90%', '99%', 'slowest']
  const table = lists.map(([name, times]) => [
    name,
    ...shares.map((share) => atShare(times, share).toFixed(0)),
  ])
  return [
    ...[['', ...heads], ...table].map(([name = '', ...cells]) =>
      [name.padEnd(12), ...cells.map((cell) => cell.padStart(8))].join(''),
    ),
    ...lists.flatMap(([name, times]) => ['', name, ...barsOf(times)]),
  ]
}

function atShare(sorted: readonly number[], share: number): number {
  const place = Math.max(Math.ceil(share * sorted.length) - 1, 0)
  return sorted[place] ?? Number.NaN
}

function barsOf(sorted: readonly number[]): string[] {
  const bars = new Map<number, number>()
  for (const time of sorted) {
    const from = Math.floor(time / step) * step
    bars.set(from, (bars.get(from) ?? 0) + 1)
  }
  return [...bars].map(
    ([from, count]) =>
      `${`${from} to ${from + step}`.padStart(14)}  ${'#'.repeat(count)} ${count}`,
  )
}
