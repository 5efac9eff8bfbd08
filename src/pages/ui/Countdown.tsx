import type { ReactNode } from 'react'
import { classNames } from './classNames.js'
import { useNow } from './clock.js'
import { spanWords } from './format.js'

export type CountdownProps = {
  /** Unix seconds. */
  until: bigint | number | string
  /** Instead of a span, once it is over. @default 'closed' */
  over?: string | undefined
  /** Seconds before the end from which it counts as near. @default 120 */
  near?: number | undefined
}

/** Time left until a moment of the chain; silent for screen readers. */
export function Countdown({
  until,
  over = 'closed',
  near = 120,
}: CountdownProps): ReactNode {
  const end = Number(until)
  const left = end - useNow()
  const at = new Date(end * 1000)
  return (
    <time
      dateTime={at.toISOString()}
      title={at.toLocaleString()}
      className={classNames(
        'countdown',
        left <= 0 && 'countdown-over',
        left > 0 && left <= near && 'countdown-near',
      )}
    >
      {left > 0 ? spanWords(left) : over}
    </time>
  )
}
