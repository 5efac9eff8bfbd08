/**
 * Picks the request that gets a streamed answer, which can be read only once:
 * the first one whose client is still connected, or else the first.
 */
export function heirOf({
  waiting,
}: {
  waiting: readonly Request[]
}): Request | undefined {
  return waiting.find(({ signal }) => !signal.aborted) ?? waiting[0]
}
