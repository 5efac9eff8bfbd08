/**
 * True for a value that a handler throws to make its framework answer, and not
 * because it failed. Next.js uses this for `redirect` and `notFound`, React
 * Router for thrown responses, SvelteKit for `redirect` and `error`.
 */
export function isSignal(thrown: unknown): boolean {
  const { digest, status } = Object(thrown)
  if (typeof digest === 'string') return digests.test(digest)
  return !(thrown instanceof Error) && typeof status === 'number'
}

/**
 * Digests by which Next.js marks such values. It gives plain errors a digest
 * too, which consists only of digits.
 */
const digests =
  /^(NEXT_|DYNAMIC_SERVER_USAGE|BAILOUT_TO_CLIENT|HANGING_PROMISE)/
