import { ClockSkewError, InvalidFieldError, shown } from './errors.js'

/** Ids of development chains, whose clock may be changed at any time. */
export const devChainIds: readonly number[] = [31337, 1337]

/** Maximum difference between the clocks of chain and machine, in seconds. */
export const maxClockSkew = 120n

/**
 * A Unix time that stands for "never": later than any real time, and small
 * enough for every database (2^62).
 */
export const endOfTime: bigint = 4_611_686_018_427_387_904n

/** The clock of this machine in Unix seconds. */
export function wallTime(): bigint {
  return BigInt(Math.floor(Date.now() / 1000))
}

/**
 * Returns a time that a caller gave in Unix seconds; without one, the time of
 * this machine. Refuses a `number`, and milliseconds.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseTime(
  time: bigint = wallTime(),
  field: string = 'now',
): bigint {
  if (typeof time !== 'bigint')
    throw new InvalidFieldError(field, shown(time), 'a bigint of Unix seconds')
  checkUnit(time, field)
  return time
}

/**
 * Refuses a time in milliseconds: a number from 10^11 to 10^14. As milliseconds
 * these are the years 1973 to 5138, and as seconds years after 5138. Larger
 * numbers stand for "never".
 *
 * @throws {@link InvalidFieldError}
 */
export function checkUnit(time: unknown, field: string): void {
  if (typeof time === 'bigint' && time >= 10n ** 11n && time < 10n ** 14n)
    throw new InvalidFieldError(
      field,
      shown(time),
      'Unix seconds (this looks like milliseconds)',
    )
}

/**
 * Returns the seconds of a period that a caller gave. Refuses milliseconds: a
 * number from 86,400,000 (a day in milliseconds, 1,000 days in seconds) to
 * 10^13. Larger numbers stand for a period that never ends.
 *
 * @throws {@link InvalidFieldError}
 */
export function parsePeriod(period: bigint, field: string): bigint {
  if (typeof period !== 'bigint')
    throw new InvalidFieldError(field, shown(period), 'a bigint of seconds')
  if (period >= 86_400_000n && period < 10n ** 13n)
    throw new InvalidFieldError(
      field,
      shown(period),
      'less than 86400000 seconds (1,000 days), and not milliseconds',
    )
  return period
}

/**
 * Refuses a node whose newest block has a time too far from this machine's
 * clock. With the time of a lying or halted node, signatures would be valid for
 * years or expired from the start. Skips development chains, which it knows by
 * their chain id.
 *
 * @throws {@link ClockSkewError} when the difference is above `maxClockSkew`.
 */
export function checkClock(
  head: { timestamp: bigint; chainId: number },
  now: bigint,
): void {
  const difference = head.timestamp - now
  const skewed = difference > maxClockSkew || -difference > maxClockSkew
  if (skewed && !devChainIds.includes(head.chainId))
    throw new ClockSkewError({ chain: head.timestamp, wall: now })
}
