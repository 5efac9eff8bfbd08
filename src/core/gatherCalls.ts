import { soon } from './wait.js'

type GatherCallsParameters<input, output> = {
  /** Works on several inputs. Returns their outputs in the same order. */
  work: (inputs: readonly input[]) => Promise<readonly output[]>
  /**
   * Chooses the next group from the waiting inputs. Must include the first one.
   */
  choose: (waiting: readonly input[]) => readonly input[]
  /** Most groups that run at the same time. */
  atOnce: number
  /** True to wait for other calls of the same turn before a group starts. */
  waitsForTurn?: boolean | undefined
  /**
   * True if the calls of a group that failed with this error run again one by
   * one.
   */
  isWorthAlone: (error: unknown) => boolean
}

type Call<input, output> = {
  input: input
  settle(output: output): void
  fail(error: unknown): void
}

/**
 * Turns a function for many inputs into a function for one. A call starts at
 * once while fewer than `atOnce` groups run; later calls wait and form the next
 * groups. So a single call never waits, except for its turn, and hundreds of
 * calls need few groups.
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
