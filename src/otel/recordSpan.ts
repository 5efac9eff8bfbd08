import {
  type Attributes,
  context,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api'
import type { Observation } from '../core/observeFailure.js'

/**
 * Records an observation that has a duration, or reports a failure, as a span
 * that has just ended, below the active span. Adds others to the active span as
 * an event, if there is one.
 */
export function recordSpan(tracer: Tracer, observation: Observation): void {
  const { name, duration, attributes } = observation
  const { error, words, ...facts } = attributes
  const isFailure = name.endsWith('.failed')
  const shown = attributesOf(facts)
  if (error !== undefined) shown['error.type'] = error
  const active = context.active()
  if (duration === undefined && !isFailure) {
    trace.getSpan(active)?.addEvent(name, shown)
    return
  }
  const endTime = Date.now()
  const startTime = endTime - (duration ?? 0)
  const span = tracer.startSpan(name, { startTime, attributes: shown }, active)
  if (error !== undefined || isFailure)
    span.setStatus({
      code: SpanStatusCode.ERROR,
      ...(words !== undefined && { message: String(words) }),
    })
  span.end(endTime)
}

/** Names attributes as OpenTelemetry does: `orderId` as `countersign.order_id`. */
function attributesOf(facts: Observation['attributes']): Attributes {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]) => [
      `countersign.${key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`,
      value,
    ]),
  )
}
