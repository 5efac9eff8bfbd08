import {
  type MeterProvider,
  metrics,
  type TracerProvider,
  trace,
} from '@opentelemetry/api'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError } from '../core/errors.js'
import type { Observation } from '../core/observeFailure.js'
import { createInstruments } from './createInstruments.js'
import { measureHealth } from './measureHealth.js'
import { measureObservation } from './measureObservation.js'
import { observedNames } from './observedNames.js'
import { createHealthReader } from './readHealth.js'
import { recordSpan } from './recordSpan.js'
import type { WatchHealthParameters } from './types.js'

/** Where metrics and spans go. */
type OpenTelemetryParameters = {
  /** Gets the metrics. @default the global provider at the time of the call */
  meterProvider?: MeterProvider | undefined
  /** Gets the spans. @default the global provider */
  tracerProvider?: TracerProvider | undefined
}

/** What {@link openTelemetry} returns. */
export type Telemetry = {
  /**
   * Pass this to `createOrders`, `runWebhooks` and `channelStorage`. Never
   * throws, and waits for nothing.
   */
  observe(observation: Observation): void
  /**
   * Has the gauges of a shop's state read at each collection of the metrics,
   * with one call of `health`. Returns a function that ends this. Watch one shop:
   * the gauges of a second one would replace those of the first.
   *
   * A collection never fails for this, and waits at most 7 seconds.
   * @throws {@link InvalidFieldError} when a parameter is malformed.
   */
  watchHealth(parameters: WatchHealthParameters): () => void
}

/**
 * Turns what a shop observes into OpenTelemetry metrics and spans, and its state
 * into gauges. `docs/alerts.md` lists all metrics.
 *
 * No label of a metric is an order's id, an address or a hash, and no label has
 * more than 100 values. Spans have ids and addresses. Neither has a signature or
 * another secret. This library sends nothing: the SDK and exporter that you set
 * up do.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
 * import { openTelemetry } from 'countersign/otel'
 *
 * export function openShop(parameters: CreateOrdersParameters) {
 *   const { observe, watchHealth } = openTelemetry()
 *   const orders = createOrders({ ...parameters, observe })
 *   const unwatch = watchHealth({ orders })
 *   return { orders, unwatch }
 * }
 * ```
 */
export function openTelemetry(
  parameters: OpenTelemetryParameters = {},
): Telemetry {
  checkMembers(parameters, ['meterProvider', 'tracerProvider'])
  const {
    meterProvider = metrics,
    tracerProvider = trace,
  }: OpenTelemetryParameters = Object(parameters)
  checkMethod('meterProvider', meterProvider, 'getMeter')
  checkMethod('tracerProvider', tracerProvider, 'getTracer')
  const instruments = createInstruments(meterProvider.getMeter(scope))
  const tracer = tracerProvider.getTracer(scope)
  instruments.record(
    observedNames.map((name) => ({
      metric: 'countersign.observations',
      value: 0,
      labels: { 'countersign.observation': name },
    })),
  )
  return {
    observe: (observation) => {
      // Neither of them may keep the other from its part.
      ignoreFailure(() => instruments.record(measureObservation(observation)))
      ignoreFailure(() => recordSpan(tracer, observation))
    },
    watchHealth: (watched) => {
      checkMembers(watched, ['orders', 'channels'])
      const { orders, channels } = Object(watched)
      checkMethod('orders', orders, 'health')
      if (channels !== undefined) checkMethod('channels', channels, 'health')
      const read = createHealthReader(watched)
      return instruments.watch(async () =>
        measureHealth(await read(), Date.now()),
      )
    },
  }
}

/** The name of the meter and the tracer. */
const scope = 'countersign'

function ignoreFailure(work: () => void): void {
  try {
    work()
  } catch {
    // A broken SDK must not disturb the shop.
  }
}

function checkMethod(field: string, given: unknown, method: string): void {
  if (typeof Object(given)[method] === 'function') return
  throw new InvalidFieldError(field, given, `an object with ${method}`)
}
