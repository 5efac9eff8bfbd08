/**
 * True for a value that a handler threw to make its framework answer, not
 * because it failed: `redirect` and `notFound` of Next.js, a thrown response of
 * React Router, `redirect` and `error` of SvelteKit.
 */
export function isSignal(thrown: unknown): boolean {
  const { digest, status } = Object(thrown)
  if (typeof digest === 'string') return digests.test(digest)
  return !(thrown instanceof Error) && typeof status === 'number'
}

/**
 * Digests by which Next.js marks what it throws. It gives plain errors a digest
 * too, which consists of digits.
 */
const digests =
  /^(NEXT_|DYNAMIC_SERVER_USAGE|BAILOUT_TO_CLIENT|HANGING_PROMISE)/
