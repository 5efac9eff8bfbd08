import { describeFailure } from '../terminal/describeFailure.js'
import type { CheckFinding } from './types.js'

export function ok(subject: string, words: string): CheckFinding {
  return { level: 'ok', subject, words }
}

export function warn(
  subject: string,
  words: string,
  toDo: string,
): CheckFinding {
  return { level: 'warn', subject, words, toDo }
}

export function fail(
  subject: string,
  words: string,
  toDo: string,
): CheckFinding {
  return { level: 'fail', subject, words, toDo }
}

/**
 * Runs a check. If it throws, returns a failed finding with the text of the
 * error.
 */
export async function tryCheck(
  subject: string,
  toDo: string,
  check: () => Promise<CheckFinding | readonly CheckFinding[]>,
): Promise<readonly CheckFinding[]> {
  try {
    return [await check()].flat()
  } catch (error) {
    const { text, code } = describeFailure(error)
    return [{ ...fail(subject, text, toDo), isAway: code === 3 }]
  }
}
