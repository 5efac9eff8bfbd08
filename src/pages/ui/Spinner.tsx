import type { ReactNode } from 'react'

/** Something is under way; the words beside it say what. */
export function Spinner(): ReactNode {
  return <span className="spinner" aria-hidden="true" />
}
