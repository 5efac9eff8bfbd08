import { useCallback, useRef, useState } from 'react'
import { wordsOf } from './wordsOf.js'

type Page<row> = { rows: readonly row[]; cursor?: string | undefined }

/** Reads a list page by page. `read` must stay the same function. */
export function usePages<row>(read: (before?: string) => Promise<Page<row>>): {
  rows: readonly row[]
  /** True if `more` can read another page. */
  hasMore: boolean
  problem: string | undefined
  isBusy: boolean
  more: () => Promise<void>
} {
  const next = useRef<{ cursor: string | undefined }>({ cursor: undefined })
  const [state, setState] = useState({
    rows: [] as readonly row[],
    hasMore: false,
    problem: undefined as string | undefined,
    isBusy: true,
  })
  const more = useCallback(async () => {
    setState((before) => ({ ...before, isBusy: true, problem: undefined }))
    try {
      const { rows, cursor } = await read(next.current.cursor)
      next.current.cursor = cursor
      setState((before) => ({
        ...before,
        rows: [...before.rows, ...rows],
        hasMore: cursor !== undefined,
        isBusy: false,
      }))
    } catch (error) {
      const problem = wordsOf(error)
      setState((before) => ({ ...before, problem, isBusy: false }))
    }
  }, [read])
  return { ...state, more }
}
