import { soon } from './wait.js'

type GatherCallsParameters<input, output> = {
  /**
   * Does the work for several inputs at once. Returns their outputs in the same
   * order.
   */
  work: (inputs: readonly input[]) => Promise<readonly output[]>
  /**
   * Chooses which waiting inputs form the next group. Must include the first
   * one.
   */
  choose: (waiting: readonly input[]) => readonly input[]
  /** Most groups that run at the same time. */
  atOnce: number
  /**
   * True to collect the calls of one turn of the event loop before a group
   * starts.
   */
  waitsForTurn?: boolean | undefined
  /**
   * Called with the error of a failed group. Returns true if each call of the
   * group should run again by itself, because one bad input may have failed
   * all.
   */
  isWorthAlone: (error: unknown) => boolean
}

type Call<input, output> = {
  input: input
  settle(output: output): void
  fail(error: unknown): void
}

/**
 * Turns a function for many inputs into a function for one input. A call starts
 * at once while fewer than `atOnce` groups run. Later calls wait, and then run
 * together as the next group. So a single call waits at most for its turn of
 * the event loop, and hundreds of calls need few requests.
 */
export function gatherCalls<input extends object, output>({
  work,
  choose,
  atOnce,
  waitsForTurn = false,
  isWorthAlone,
}: GatherCallsParameters<input, output>): (input: input) => Promise<output> {
  let waiting: Call<input, output>[] = []
  let groups = 0
  const run = async (calls: readonly Call<input, output>[]): Promise<void> => {
    try {
      const outputs = await work(calls.map(({ input }) => input))
      if (outputs.length !== calls.length)
        throw new Error('A group of calls got too few results.')
      for (const [at, output] of outputs.entries()) calls[at]?.settle(output)
    } catch (error) {
      if (calls.length > 1 && isWorthAlone(error))
        for (const call of calls) await run([call])
      else for (const { fail } of calls) fail(error)
    }
  }
  const start = (): void => {
    while (waiting.length > 0 && groups < atOnce) {
      const callOf = new Map(waiting.map((call) => [call.input, call]))
      const calls = choose([...callOf.keys()]).flatMap(
        (input) => callOf.get(input) ?? [],
      )
      const chosen = new Set(calls)
      waiting = waiting.filter((call) => !chosen.has(call))
      groups++
      void run(calls).finally(() => {
        groups--
        start()
      })
    }
  }
  return (input) =>
    new Promise((settle, fail) => {
      waiting.push({ input, settle, fail })
      if (!waitsForTurn) start()
      else if (waiting.length === 1) soon(start)
    })
}
