import type { CallAnswer } from './types.js'

/** Whether a getter answered with one word. */
export function isWord({ ok, data }: CallAnswer): boolean {
  return ok && data.length === 66
}

/** Whether a getter answered with a word that is not zero. */
export function isTrue(answer: CallAnswer): boolean {
  return isWord(answer) && BigInt(answer.data) !== 0n
}
