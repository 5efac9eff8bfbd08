import { wait } from '../../core/wait.js'
import { StoreError } from '../../store/errors.js'

/**
 * What a refusal of the database means for the unit of work: a row is there
 * already; it was rolled back and may run again; the connection is gone; there
 * is no room for it now; or it will never work.
 */
export type SqlFaultKind =
  | 'duplicate'
  | 'rolledBack'
  | 'lost'
  | 'full'
  | 'refused'

const problems: Readonly<Record<SqlFaultKind, string>> = {
  duplicate: 'has such a row already',
  rolledBack: 'was kept busy by others for too long',
  lost: 'cannot reach its database',
  full: 'has no room left on its disk',
  refused: 'was refused by its database',
}

/** Names the code only: a database's own words repeat what it was given. */
export class SqlFault extends StoreError {
  readonly kind: SqlFaultKind
  /** As the database calls it. */
  readonly code: string

  constructor(kind: SqlFaultKind, code: string) {
    super(
      `${problems[kind]} (${code})`,
      kind !== 'duplicate' && kind !== 'refused',
    )
    this.kind = kind
    this.code = code
  }
}

/** Whether nothing was kept, and the same work may succeed when run again. */
export function mayRunAgain(error: unknown): boolean {
  return (
    error instanceof SqlFault &&
    (error.kind === 'rolledBack' || error.kind === 'lost')
  )
}

/**
 * Runs work again after a fault that `mayRunAgain` accepts, with growing random
 * pauses, until its patience is over.
 */
export async function runPatiently<result>(
  work: () => Promise<result>,
  patience: {
    milliseconds: number
    /** Milliseconds of the first pause, and the most. */
    firstPause: number
    longestPause: number
    mayRunAgain: (error: unknown) => boolean
  },
): Promise<result> {
  const until = performance.now() + patience.milliseconds
  for (let round = 0; ; round++) {
    try {
      return await work()
    } catch (error) {
      if (!patience.mayRunAgain(error) || performance.now() > until) throw error
      const longest = Math.min(
        patience.firstPause * 2 ** round,
        patience.longestPause,
      )
      await wait(longest * (0.5 + Math.random() / 2))
    }
  }
}
