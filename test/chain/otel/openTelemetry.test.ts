import { context } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
  type PushMetricExporter,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base'
import { startDevChain } from 'countersign/devchain'
import { openTelemetry } from 'countersign/otel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openShop, shows, storedOrder } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0 })
beforeAll(() => {
  context.setGlobalContextManager(
    new AsyncLocalStorageContextManager().enable(),
  )
})
afterAll(async () => {
  context.disable()
  await chain.stop()
})

/** An exporter that keeps what it gets, and reads every 20 ms. */
function readerOf(exporter: PushMetricExporter): PeriodicExportingMetricReader {
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis: 20,
    exportTimeoutMillis: 20,
  })
}

test('a sale is metrics and spans, without a signature in any', async () => {
  const kept = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  const meterProvider = new MeterProvider({ readers: [readerOf(kept)] })
  const spanExporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  })
  const { observe, watchHealth } = openTelemetry({
    meterProvider,
    tracerProvider,
  })
  const shop = await openShop(chain, { observe })
  watchHealth({ orders: shop.orders })

  const tracer = tracerProvider.getTracer('shop')
  const signed = await tracer.startActiveSpan('sale', async (span) => {
    const sale = await storedOrder(chain, shop)
    const result = await shop.orders.capture({ orderId: sale.id })
    expect(result.status).toBe('captured')
    await expect(shop.orders.get({ orderId: 'none' })).rejects.toThrow()
    span.end()
    return sale.signed
  })
  await meterProvider.forceFlush()
  await shop.orders.close()
  await meterProvider.shutdown()

  const spans = spanExporter.getFinishedSpans()
  const sale = spans.find(({ name }) => name === 'sale')
  const own = spans.filter(
    ({ parentSpanContext }) =>
      parentSpanContext?.spanId === sale?.spanContext().spanId,
  )
  expect(own.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['orders.draft', 'orders.accept', 'orders.capture']),
  )
  const failed = own.find(({ name }) => name === 'orders.get')
  expect(failed?.status.code).toBe(2)
  expect(failed?.attributes['error.type']).toBe('OrderNotFoundError')
  const capture = own.find(({ name }) => name === 'orders.capture')
  expect(capture?.attributes['countersign.status']).toBe('captured')

  const exported = kept.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics)
  const shown = spans.map(({ name, attributes, events, status }) => [
    name,
    attributes,
    events,
    status,
  ])
  expect(shows(shown, signed)).toBe(false)
  expect(shows(exported, signed)).toBe(false)
  const labels = exported
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes))
  expect(labels.length).toBeGreaterThan(10)
  expect(JSON.stringify(labels)).not.toMatch(/0x[0-9a-f]{8}/i)
})

const temporality = AggregationTemporality.CUMULATIVE

type Broken = {
  metrics: PushMetricExporter['export']
  spans: SpanExporter['export']
}

const fail = () => {
  throw new Error('the exporter is broken')
}

test.each<[string, Broken]>([
  ['throws', { metrics: fail, spans: fail }],
  ['hangs', { metrics: () => undefined, spans: () => undefined }],
])('a shop sells while an exporter %s', async (_, broken) => {
  const calls = { metrics: 0, spans: 0 }
  const ended = {
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  }
  const reader = readerOf({
    ...ended,
    selectAggregationTemporality: () => temporality,
    export: (...given) => {
      calls.metrics++
      broken.metrics(...given)
    },
  })
  const spanExporter: SpanExporter = {
    ...ended,
    export: (...given) => {
      calls.spans++
      broken.spans(...given)
    },
  }
  const meterProvider = new MeterProvider({ readers: [reader] })
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [
      new SimpleSpanProcessor(spanExporter),
      new BatchSpanProcessor(spanExporter, { scheduledDelayMillis: 10 }),
    ],
  })
  const { observe, watchHealth } = openTelemetry({
    meterProvider,
    tracerProvider,
  })
  const shop = await openShop(chain, {
    observe,
    policy: { capture: 'onAccept', pollingInterval: 20 },
  })
  watchHealth({ orders: shop.orders })
  const stop = new AbortController()
  const running = shop.orders.run({ signal: stop.signal })
  const { id } = await storedOrder(chain, shop)
  await expect
    .poll(async () => (await shop.orders.get({ orderId: id })).state)
    .toBe('captured')
  await expect.poll(() => calls.metrics).toBeGreaterThan(0)
  expect(calls.spans).toBeGreaterThan(0)
  stop.abort()
  await running
  await shop.orders.close()
  await meterProvider.shutdown().catch(() => undefined)
})
