import type {
  Counter,
  Histogram,
  Meter,
  ObservableGauge,
} from '@opentelemetry/api'
import { createLabelBounds } from './boundLabels.js'
import {
  bucketBounds,
  type Label,
  type Measurement,
  type MetricName,
  metricTable,
} from './metricTable.js'

/** What writes measurements to the instruments of the table. */
export type Instruments = {
  /** Records counters and histograms. */
  record(measurements: readonly Measurement[]): void
  /**
   * Has the gauges read at each collection of the metrics. Returns a function
   * that ends this.
   */
  watch(read: () => Promise<readonly Measurement[]>): () => void
}

/** Creates the instruments of {@link metricTable}. */
export function createInstruments(meter: Meter): Instruments {
  const counters = new Map<MetricName, Counter>()
  const histograms = new Map<MetricName, Histogram>()
  const gauges = new Map<MetricName, ObservableGauge>()
  for (const name of Object.keys(metricTable) as MetricName[]) {
    const { kind, unit, description } = metricTable[name]
    const options = { unit, description }
    if (kind === 'counter')
      counters.set(name, meter.createCounter(name, options))
    else if (kind === 'gauge')
      gauges.set(name, meter.createObservableGauge(name, options))
    else
      histograms.set(
        name,
        meter.createHistogram(name, {
          ...options,
          advice: { explicitBucketBoundaries: [...bucketBounds] },
        }),
      )
  }
  const bound = createLabelBounds()
  const labelsOf = ({ metric, labels }: Measurement) => {
    const known: readonly Label[] = metricTable[metric].labels
    return bound(
      Object.fromEntries(known.map((label) => [label, labels[label]])),
    )
  }
  return {
    record: (measurements) => {
      for (const one of measurements) {
        const { metric, value } = one
        counters.get(metric)?.add(value, labelsOf(one))
        histograms.get(metric)?.record(value, labelsOf(one))
      }
    },
    watch: (read) => {
      const all = [...gauges.values()]
      const observe: Parameters<Meter['addBatchObservableCallback']>[0] =
        async (result) => {
          for (const one of await read()) {
            const gauge = gauges.get(one.metric)
            if (gauge) result.observe(gauge, one.value, labelsOf(one))
          }
        }
      meter.addBatchObservableCallback(observe, all)
      return () => meter.removeBatchObservableCallback(observe, all)
    },
  }
}
