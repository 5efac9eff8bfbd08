import { sized } from './sized.js'

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
  /** Both sides by themselves, for the plots. */
  sides?:
    | { own: number; peer: number; unit: 'ms' | 'us' | 'a second' }
    | undefined
  /** Why the goal may be out of reach; printed where it is missed. */
  why?: string | undefined
}

/**
 * Times the part of a candidate that counts, where that is not all of it. Work
 * that resolves to a number took that many milliseconds by its own clock.
 */
type Stopwatch = (work: () => Promise<unknown>) => Promise<void>

export type Candidates = Record<string, (time: Stopwatch) => unknown>

/** Medians over the rounds, by candidate. */
export type Compared = {
  /** How many times longer each took than one's own in the same round. */
  ratios: Record<string, number>
  milliseconds: Record<string, number>
}

/** Gives the ratios of {@link compareTimes} alone. */
export async function compare(
  own: string,
  options: Parameters<typeof compareTimes>[1],
): Promise<Record<string, number>> {
  return (await compareTimes(own, options)).ratios
}

/**
 * Times candidates against each other: in random order inside each round, and
 * with fresh input a round. The ratios to `own` tell more than the times on a
 * busy machine.
 */
export async function compareTimes(
  own: string,
  {
    rounds,
    prepare,
  }: { rounds: number; prepare: () => Candidates | Promise<Candidates> },
): Promise<Compared> {
  const ratios: Record<string, number[]> = {}
  const milliseconds: Record<string, number[]> = {}
  const counted = sized(rounds, 1)
  for (let round = sized(-2, 0); round < counted; round++) {
    const times: Record<string, number> = {}
    for (const [name, run] of shuffle(Object.entries(await prepare()))) {
      let part: number | undefined
      const whole = await measure(async () => {
        await run(async (work) => {
          part = await measure(work)
        })
      })
      times[name] = part ?? whole
    }
    // The first rounds warm up code and caches.
    if (round >= 0)
      for (const [name, time] of Object.entries(times)) {
        const ratio = time / (times[own] ?? Number.NaN)
        ratios[name] = [...(ratios[name] ?? []), ratio]
        milliseconds[name] = [...(milliseconds[name] ?? []), time]
      }
  }
  return { ratios: mediansOf(ratios), milliseconds: mediansOf(milliseconds) }
}

function mediansOf(lists: Record<string, number[]>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(lists).map(([name, all]) => [name, median(all)]),
  )
}

async function measure(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  const result = await work()
  return typeof result === 'number' ? result : performance.now() - start
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
