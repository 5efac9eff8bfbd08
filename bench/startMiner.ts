import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { DevChain } from 'countersign/devchain'

export type Miner = {
  /**
   * Has the node mine every so many milliseconds beside what is done. With
   * `automine` also each transaction as it comes, which suits who sends one
   * after another: of a crowd an anvil that does so lets one lie now and then.
   */
  mineBeside(
    pace: { automine: boolean; every: number },
    work: () => Promise<void>,
  ): Promise<void>
  stop(): void
}

export async function startMiner({ urls, clients }: DevChain): Promise<Miner> {
  const script = fileURLToPath(new URL('mineBlocks.ts', import.meta.url))
  const child = fork(script, [urls.http])
  await once(child, 'message')
  const setPace = async (every: number): Promise<void> => {
    child.send(every)
    await once(child, 'message')
  }
  return {
    mineBeside: async ({ automine, every }, work) => {
      await clients.test.setAutomine(automine)
      await setPace(every)
      await work().finally(() => setPace(0))
    },
    stop: () => child.disconnect(),
  }
}
