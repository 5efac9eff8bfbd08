import type { SureHeads } from '../forks/believeFinality.js'
import type { Watch } from '../forks/checkReorg.js'

/** What one look works with, with what two looks agree on. */
export type SureWatch = Watch & { sure: SureHeads }

/** Seconds of the chain after which what could not be decided is asked again. */
export const lookAgain = 15n
