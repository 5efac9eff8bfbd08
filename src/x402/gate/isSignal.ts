/**
 * True for what frameworks throw to answer, and not because of a failure: the
 * `redirect` and `notFound` of Next.js, a thrown response of React Router, the
 * `redirect` and `error` of SvelteKit.
 */
export function isSignal(thrown: unknown): boolean {
  const { digest, status } = Object(thrown)
  if (typeof digest === 'string') return digests.test(digest)
  return !(thrown instanceof Error) && typeof status === 'number'
}

/** Next.js also gives plain errors a digest, of digits. */
const digests =
  /^(NEXT_|DYNAMIC_SERVER_USAGE|BAILOUT_TO_CLIENT|HANGING_PROMISE)/
