import type { ReactNode } from 'react'
import { Badge } from '../ui/Badge.js'
import type { BookState } from './bookState.js'

/** Shows whether the page follows the shop's events. */
export function Connection({
  connection,
}: Pick<BookState, 'connection'>): ReactNode {
  return (
    <div role="status">
      {connection === 'live' && <Badge tone="good">Live</Badge>}
      {connection === 'connecting' && <Badge busy>Connecting</Badge>}
      {connection === 'lost' && (
        <Badge tone="warn" busy>
          Connection lost, trying again
        </Badge>
      )}
    </div>
  )
}
