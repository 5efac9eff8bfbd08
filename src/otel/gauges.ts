import type { Measurement, MetricName } from './metricTable.js'

/** Returns the values of several gauges with the same labels. */
export function gauges(
  labels: Measurement['labels'],
  values: Readonly<Partial<Record<MetricName, number | undefined>>>,
): Measurement[] {
  return Object.entries(values).flatMap(([metric, value]) =>
    value === undefined ? [] : { metric: metric as MetricName, value, labels },
  )
}

/**
 * Returns the seconds since a time in Unix milliseconds; 0 for one that the
 * clock here has not reached.
 */
export function ageOf(time: number, now: number): number {
  return Math.max(0, (now - time) / 1000)
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

export function leastOf(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.min(...values)
}

export function greatest(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : Math.max(...values)
}
