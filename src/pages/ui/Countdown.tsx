import type { ReactNode } from 'react'
import { classNames } from './classNames.js'
import { useNow } from './clock.js'
import { spanWords } from './format.js'

export type CountdownProps = {
  /** Unix seconds. */
  until: bigint | number | string
  /** Text once the time has ended. @default 'closed' */
  over?: string | undefined
  /** Seconds before the end at which the time is highlighted. @default 120 */
  near?: number | undefined
}

/**
 * Shows the time left by chain time. Screen readers do not read it as it
 * changes.
 */
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
