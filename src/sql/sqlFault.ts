import { StoreError } from '../store/errors.js'

/**
 * What a refusal of the database means for the unit of work: a row is there
 * already; it was rolled back and may run again; the connection is gone; or it
 * will never work.
 */
export type FaultKind = 'duplicate' | 'rolledBack' | 'lost' | 'refused'

const problems: Readonly<Record<FaultKind, string>> = {
  duplicate: 'has such a row already',
  rolledBack: 'was kept busy by others for too long',
  lost: 'cannot reach its database',
  refused: 'was refused by its database',
}

/** Names the code only: a database's own words repeat what it was given. */
export class SqlFault extends StoreError {
  readonly kind: FaultKind

  constructor(kind: FaultKind, code: string) {
    super(
      `${problems[kind]} (${code})`,
      kind === 'rolledBack' || kind === 'lost',
    )
    this.kind = kind
  }
}

/** Whether nothing was kept, and the same work may succeed when run again. */
export function mayRunAgain(error: unknown): boolean {
  return (
    error instanceof SqlFault &&
    (error.kind === 'rolledBack' || error.kind === 'lost')
  )
}
