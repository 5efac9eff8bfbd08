/**
 * Returns a function that calls `load` once and keeps its result. After a
 * failure, the next call tries again.
 */
export function loadOnce<loaded>(
  load: () => Promise<loaded>,
): () => Promise<loaded> {
  let loading: Promise<loaded> | undefined
  return () => {
    loading ??= load().catch((error: unknown) => {
      loading = undefined
      throw error
    })
    return loading
  }
}
