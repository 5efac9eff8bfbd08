import process from 'node:process'

const variable = 'COUNTERSIGN_BENCH_SMOKE'

/** Runs benches at their smallest size from now on, in child processes too. */
export function beSmall(): void {
  process.env[variable] = '1'
}

/**
 * Returns the usual size of a bench, or with `--smoke` the smallest one. Names of
 * rows keep the usual one: a smoke run shows that a bench runs, and measures
 * nothing.
 */
export function sized(usual: number, smallest: number): number {
  return process.env[variable] === '1' ? smallest : usual
}
