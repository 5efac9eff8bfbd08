import { growingPause, keepTrying } from '../../core/keepTrying.js'
import { redact } from '../../core/redact.js'
import { StoreError } from '../../store/errors.js'

/**
 * What a database error means for the transaction. `duplicate`: a row exists
 * already. `rolledBack`: the transaction may run again. `lost`: the connection
 * is lost. `full`: the disk is full. `disk`: it cannot be read or written.
 * `refused`: the transaction would fail each time.
 */
export type SqlFaultKind =
  | 'duplicate'
  | 'rolledBack'
  | 'lost'
  | 'full'
  | 'disk'
  | 'refused'

const problems: Readonly<Record<SqlFaultKind, string>> = {
  duplicate: 'already has this row',
  rolledBack: 'waited too long for other processes',
  lost: 'cannot reach its database',
  full: 'has no room left on its disk',
  disk: 'cannot read or write its disk',
  refused: 'got an error from its database',
}

/** By error code: what to do if wrong settings cause the error. */
const advice: Readonly<Record<string, string>> = {
  '28P01': ': check the user and the password',
  '28000': ': check the user and the password',
  '3D000': ': create the database, or check its name',
}

/**
 * An error of the database. Shows only the error code, because the database's
 * message could contain data of orders.
 *
 * @param words error text to show: only of a failure to connect, which has no
 * data yet. Names are left out, because a mistyped address can have the
 * password anywhere.
 */
export class SqlFault extends StoreError {
  readonly kind: SqlFaultKind
  /** The database's own code, an SQLSTATE or an SQLite code. */
  readonly code: string

  constructor(kind: SqlFaultKind, code: string, words = '') {
    const names = /["'“«].*["'”»]|(?<=no such (database|user)):.*/gis
    const shown = redact(words.replace(names, '…'))
    const reason = advice[code] ?? (shown && `: ${shown}`)
    super(
      `${problems[kind]} (${code})${reason}`,
      kind !== 'duplicate' && kind !== 'refused',
    )
    this.kind = kind
    this.code = code
  }
}

/**
 * True when the database has kept nothing of the transaction, and the same
 * transaction may succeed now.
 */
export function mayRunAgain(error: unknown): boolean {
  return (
    error instanceof SqlFault &&
    (error.kind === 'rolledBack' || error.kind === 'lost')
  )
}

/**
 * Runs `work` again after each fault that `mayRunAgain` accepts, until
 * `milliseconds` have passed. Pauses between the runs are random and grow.
 *
 * @param work gets the time of `performance.now()` after which it does not run
 * again.
 */
export async function runPatiently<result>(
  work: (until: number) => Promise<result>,
  patience: {
    milliseconds: number
    /** Milliseconds of the first pause, and of the longest. */
    firstPause: number
    longestPause: number
    mayRunAgain: (error: unknown) => boolean
  },
): Promise<result> {
  const { milliseconds, firstPause, longestPause, mayRunAgain } = patience
  const until = performance.now() + milliseconds
  const run = () => work(until)
  return await keepTrying(run, (error, failures) => {
    if (!mayRunAgain(error)) return undefined
    const pauses = { shortest: firstPause, longest: longestPause }
    const pause = growingPause(failures, pauses) * (0.5 + Math.random() / 2)
    return performance.now() + pause > until ? undefined : pause
  })
}
