import { seal, tick } from './advanceSequencer.js'
import { openBlock } from './previewBlock.js'
import type { Sequencer } from './sequencer.js'

/**
 * Pre-confirms transactions and finishes blocks at regular times until it is
 * stopped. With a tick of 0, pre-confirms only on request. With a block time of
 * 0, finishes blocks only on request.
 */
export async function runSequencer(
  sequencer: Sequencer,
  tickTime: number,
): Promise<() => Promise<void>> {
  const { blockTime, lock } = sequencer
  const step = (sequencer.preconfirms && tickTime) || blockTime
  let stopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  let next = Date.now() + step

  const run = async () => {
    try {
      if (sequencer.blockTime && Date.now() >= sequencer.due)
        await seal(sequencer)
      if (sequencer.preconfirms && tickTime) await tick(sequencer)
    } catch {
      // The node is ending or too busy. The next step tries again.
    }
    schedule()
  }
  const schedule = () => {
    if (stopped) return
    // If a step took too long, skips the steps that should have begun
    // meanwhile.
    while (next <= Date.now()) next += step
    timer = setTimeout(run, next - Date.now())
  }
  sequencer.due = Date.now() + blockTime
  await lock.exclusive(() => openBlock(sequencer))
  if (step) schedule()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await lock.exclusive(async () => undefined)
  }
}
