import type { SureHeads } from './believeFinality.js'
import type { Watch } from './checkReorg.js'

/** The data of one look, and the heads on which two looks agree. */
export type SureWatch = Watch & { sure: SureHeads }

/** Seconds of chain time until an undecided order is judged again. */
export const lookAgain = 15n
