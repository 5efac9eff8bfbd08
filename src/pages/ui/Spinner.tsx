import type { ReactNode } from 'react'

/** Shows that something is in progress. The words beside it say what. */
export function Spinner(): ReactNode {
  return <span className="spinner" aria-hidden="true" />
}
