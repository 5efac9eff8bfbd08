/** One line of the results; a higher ratio is better. */
export type Row = {
  name: string
  /** What it is measured against. */
  peer: string
  ratio: number
  /** The least ratio wanted; 0 where none is. */
  goal: number
  /** What the ratio is one of. */
  unit: string
}

/** Times the part of a candidate that counts, where that is not all of it. */
type Stopwatch = (work: () => Promise<void>) => Promise<void>

export type Candidates = Record<string, (time: Stopwatch) => unknown>

/**
 * Times candidates against each other: in random order inside each round, and
 * with fresh input a round. Gives the median over the rounds of how many times
 * longer each took than `own`, which tells more than times on a busy machine.
 */
export async function compare(
  own: string,
  {
    rounds,
    prepare,
  }: { rounds: number; prepare: () => Candidates | Promise<Candidates> },
): Promise<Record<string, number>> {
  const ratios: Record<string, number[]> = {}
  for (let round = -2; round < rounds; round++) {
    const times: Record<string, number> = {}
    for (const [name, run] of shuffle(Object.entries(await prepare()))) {
      let part: number | undefined
      const whole = await measure(() =>
        run(async (work) => {
          part = await measure(work)
        }),
      )
      times[name] = part ?? whole
    }
    // The first rounds warm up code and caches.
    if (round >= 0)
      for (const [name, time] of Object.entries(times)) {
        const ratio = time / (times[own] ?? Number.NaN)
        ratios[name] = [...(ratios[name] ?? []), ratio]
      }
  }
  return Object.fromEntries(
    Object.entries(ratios).map(([name, all]) => [name, median(all)]),
  )
}

async function measure(work: () => unknown): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? Number.NaN
}

function shuffle<item>(items: readonly item[]): item[] {
  return items
    .map((item) => ({ item, key: Math.random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}
