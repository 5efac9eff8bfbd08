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
 * Returns the given Unix time in seconds; without one, the time of this
 * machine. Refuses a `number`.
 */
export function parseTime(now: bigint = wallTime()): bigint {
  if (typeof now !== 'bigint')
    throw new InvalidFieldError('now', shown(now), 'a bigint of Unix seconds')
  return now
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
