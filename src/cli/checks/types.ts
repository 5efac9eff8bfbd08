/** The result of one check of the doctor. */
export type CheckFinding = {
  level: 'ok' | 'warn' | 'fail'
  /** The part that was checked, such as `gas`. */
  subject: string
  /** The result of the check, as one sentence. */
  words: string
  /** What to do about the problem; absent when there is none. */
  toDo?: string | undefined
  /**
   * True when the check failed because a node or the database cannot be
   * reached.
   */
  isAway?: boolean | undefined
}
