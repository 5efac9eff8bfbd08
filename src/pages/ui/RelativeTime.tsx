import type { ReactNode } from 'react'
import { useNow } from './clock.js'
import { formatAgo } from './format.js'

/** Shows how long ago a moment was, given in Unix seconds. */
export function RelativeTime({
  at,
}: {
  at: bigint | number | string
}): ReactNode {
  const now = useNow()
  const date = new Date(Number(at) * 1000)
  return (
    <time dateTime={date.toISOString()} title={date.toLocaleString()}>
      {formatAgo(Math.max(0, now - Number(at)))}
    </time>
  )
}
