import { context, type MeterProvider, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  PeriodicExportingMetricReader,
  MeterProvider as SdkMeterProvider,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { openTelemetry } from 'countersign/otel'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { metricTable } from '../../../src/otel/metricTable.js'

beforeAll(() => {
  const manager = new AsyncLocalStorageContextManager()
  context.setGlobalContextManager(manager.enable())
})
afterAll(() => context.disable())

/** The SDK's own providers, which keep what they export. */
function openSdk() {
  const metricExporter = new InMemoryMetricExporter(
    AggregationTemporality.CUMULATIVE,
  )
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: 2 ** 30,
  })
  const meterProvider = new SdkMeterProvider({ readers: [reader] })
  const spanExporter = new InMemorySpanExporter()
  const tracerProvider = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(spanExporter)],
  })
  const collect = async () => {
    metricExporter.reset()
    await meterProvider.forceFlush()
    return metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics)
  }
  const pointsOf = async (name: string) =>
    (await collect())
      .filter(({ descriptor }) => descriptor.name === name)
      .flatMap(({ dataPoints }) =>
        dataPoints.map(({ attributes, value }) => ({ attributes, value })),
      )
  return {
    sdk: { meterProvider, tracerProvider },
    collect,
    pointsOf,
    spans: () => spanExporter.getFinishedSpans(),
  }
}

const capture = {
  name: 'orders.capture',
  duration: 1500,
  attributes: { ok: true, status: 'captured' },
}

test('the instruments are those of the table', async () => {
  const { sdk, collect } = openSdk()
  const { observe } = openTelemetry(sdk)
  observe(capture)
  observe({
    name: 'submitter.sent',
    duration: 3,
    attributes: { chainId: 1, sent: 1 },
  })
  const found = (await collect()).map(({ descriptor }) => descriptor)
  expect(found.map(({ name }) => name)).toContain('countersign.call.duration')
  for (const { name, unit, description } of found)
    expect(metricTable[name as keyof typeof metricTable]).toMatchObject({
      unit,
      description,
    })
})

test('a counted observation begins at 0', async () => {
  const { sdk, pointsOf } = openSdk()
  const { observe } = openTelemetry(sdk)
  observe({ name: 'outbox.full', attributes: { target: 'a', orders: 1 } })
  const points = await pointsOf('countersign.observations')
  const values = points.map(({ attributes, value }) => [
    attributes['countersign.observation'],
    value,
  ])
  expect(values).toContainEqual(['outbox.full', 1])
  expect(values).toContainEqual(['seal.broken', 0])
})

test('a measured observation is a span of that time, below the active span', () => {
  const { sdk, spans } = openSdk()
  const { observe } = openTelemetry(sdk)
  const outer = sdk.tracerProvider.getTracer('shop').startSpan('request')
  const active = trace.setSpan(context.active(), outer)
  context.with(active, () => {
    observe(capture)
    observe({ name: 'submitter.replaced', attributes: { orderId: 'a' } })
  })
  outer.end()
  const [span, request] = spans()
  expect(span?.name).toBe('orders.capture')
  expect(span?.parentSpanContext?.spanId).toBe(outer.spanContext().spanId)
  expect(span?.attributes).toEqual({
    'countersign.ok': true,
    'countersign.status': 'captured',
  })
  const [seconds = 0, nanos = 0] = span?.duration ?? []
  expect(seconds + nanos / 1e9).toBeCloseTo(1.5, 2)
  expect(request?.events).toMatchObject([
    { name: 'submitter.replaced', attributes: { 'countersign.order_id': 'a' } },
  ])
})

test('a failure is a span with its error, ids included', () => {
  const { sdk, spans } = openSdk()
  openTelemetry(sdk).observe({
    name: 'submitter.failed',
    attributes: { orderId: 'a', error: 'NodeError', words: 'no answer' },
  })
  expect(spans()).toMatchObject([
    {
      name: 'submitter.failed',
      attributes: { 'error.type': 'NodeError', 'countersign.order_id': 'a' },
      status: { code: 2, message: 'no answer' },
    },
  ])
})

test('whatever is observed, labels stay few and show no id', async () => {
  const { sdk, collect } = openSdk()
  const { observe } = openTelemetry(sdk)
  for (let at = 0; at < 3000; at++) {
    const id = `order-${at}`
    const hash = `0x${at.toString(16).padStart(64, '0')}`
    const ids = { orderId: id, account: hash.slice(0, 42), what: id, nonce: at }
    const odd = { ...ids, reason: hash, status: id, error: hash, kind: id }
    for (const name of [
      'orders.capture',
      'webhook.failed',
      'submitter.sent',
      'submitter.waits',
      'submitter.replaced',
      'watch.failed',
    ])
      observe({ name, duration: 1, attributes: { ...odd, target: id } })
    observe({ name: `surprise.${at}`, attributes: ids })
  }
  const labels = (await collect()).flatMap(({ dataPoints }) =>
    dataPoints.map(({ attributes }) => attributes),
  )
  expect(JSON.stringify(labels)).not.toMatch(/0x[0-9a-f]{8}/)
  const values = new Map<string, Set<unknown>>()
  for (const one of labels)
    for (const [label, value] of Object.entries(one))
      values.set(label, (values.get(label) ?? new Set()).add(value))
  for (const [label, seen] of values)
    expect(seen.size, label).toBeLessThanOrEqual(101)
})

test('health that fails is shown as such, and fails no collection', async () => {
  const { sdk, pointsOf } = openSdk()
  const { watchHealth } = openTelemetry(sdk)
  const health = () => Promise.reject(new Error('the database is gone'))
  const unwatch = watchHealth({ orders: { health } })
  const answered = 'countersign.health.answered'
  expect(await pointsOf(answered)).toEqual([{ attributes: {}, value: 0 }])
  unwatch()
  let calls = 0
  const counted = async () => {
    calls++
    return health()
  }
  watchHealth({ orders: { health: counted } })()
  await pointsOf(answered)
  expect(calls).toBe(0)
})

test('an SDK that throws stops neither the caller nor the other part', () => {
  const { sdk, spans } = openSdk()
  const broken = () => {
    throw new Error('broken SDK')
  }
  const meterProvider: MeterProvider = {
    getMeter: (name) =>
      Object.assign(sdk.meterProvider.getMeter(name), {
        createHistogram: () => ({ record: broken }),
      }),
  }
  openTelemetry({ ...sdk, meterProvider }).observe(capture)
  expect(spans()).toHaveLength(1)
  const tracerProvider = {
    getTracer: () => ({ startSpan: broken, startActiveSpan: broken }),
  }
  expect(() =>
    openTelemetry({ ...sdk, tracerProvider }).observe(capture),
  ).not.toThrow()
})

test('without an SDK, nothing happens', () => {
  const { observe, watchHealth } = openTelemetry(null as never)
  observe(capture)
  watchHealth({ orders: { health: () => Promise.reject(new Error('x')) } })()
})

test.each([
  ['meterProvider', () => openTelemetry({ meterProvider: {} as never })],
  ['tracerProvider', () => openTelemetry({ tracerProvider: 'x' as never })],
  ['orders', () => openTelemetry().watchHealth({ orders: {} as never })],
  ['orders', () => openTelemetry().watchHealth(undefined as never)],
  [
    'channels',
    () =>
      openTelemetry().watchHealth({
        orders: { health: () => Promise.reject(new Error('x')) },
        channels: {} as never,
      }),
  ],
  ['parameters', () => openTelemetry({ meters: 1 } as never)],
])('a malformed %s is refused', (field, call) => {
  expect(call).toThrow(
    expect.objectContaining({
      name: 'InvalidFieldError',
      details: expect.objectContaining({ field }),
    }),
  )
})
