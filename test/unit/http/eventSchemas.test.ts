import { expect, test } from 'vitest'
import * as z from 'zod'
import { toJson } from '../../../src/core/toJson.js'
import { openApi } from '../../../src/http/routes/openApi.js'
import { createRoutes } from '../../../src/http/routes/routes.js'
import { buyerEventSchema } from '../../../src/http/schemas/eventSchemas.js'
import { eventTypes } from '../support/eventTypes.js'
import { sampleEvents } from '../support/sampleEvents.js'

type Json = Record<string, unknown>

const { paths, components } = JSON.parse(
  JSON.stringify(openApi(createRoutes(''), '')),
)
const schemas: Record<string, Json> = components.schemas

/** By the JSON Schema in the document, not by what it was made of. */
const schemaOf = (name: string) =>
  z.fromJSONSchema(
    JSON.parse(
      JSON.stringify({ ...schemas[name], $defs: schemas }).replaceAll(
        '#/components/schemas/',
        '#/$defs/',
      ),
    ),
  )

const orderEvent = schemaOf('OrderEvent')
const sent = sampleEvents.map((event): Json => JSON.parse(toJson(event)))
const nameOf = (type: string) =>
  `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`

test('each type of event has one schema, which the type leads to', () => {
  const names = eventTypes.map(nameOf)
  expect(Object.keys(schemas)).toEqual(expect.arrayContaining(names))
  expect(schemas.OrderEvent).toEqual({
    oneOf: names.map((name) => ({ $ref: `#/components/schemas/${name}` })),
    discriminator: {
      propertyName: 'type',
      mapping: Object.fromEntries(
        eventTypes.map((type) => [
          type,
          `#/components/schemas/${nameOf(type)}`,
        ]),
      ),
    },
  })
})

test.each(sent)('an event $type is as the document says', (event) => {
  expect(orderEvent.safeParse(event).error).toBeUndefined()
  expect(schemaOf(nameOf(String(event.type))).parse(event)).toEqual(event)
})

test.each(sent)('an event $type with other data is not', (event) => {
  const changed = { ...event, data: { ...Object(event.data), other: 1 } }
  expect(orderEvent.safeParse(changed).success).toBe(false)
  for (const name of Object.keys(Object(event.data))) {
    const data = { ...Object(event.data), [name]: [] }
    expect([name, orderEvent.safeParse({ ...event, data }).success]).toEqual([
      name,
      false,
    ])
  }
})

test('both streams say what the data of their events are', () => {
  const dataOf = (path: string) =>
    paths[path].get.responses['200'].content['text/event-stream'][
      'x-itemSchema'
    ].properties.data.contentSchema
  expect(dataOf('/merchant/events')).toEqual({
    oneOf: [
      { $ref: '#/components/schemas/OrderEvent' },
      { $ref: '#/components/schemas/StreamStatus' },
    ],
  })
  expect(dataOf('/orders/{orderId}/events')).toEqual({
    $ref: '#/components/schemas/BuyerEvent',
  })
})

test('a buyer’s event is named, and has the order as it is', () => {
  const schema = buyerEventSchema(
    // It looks at nothing of the order.
    z.strictObject({ state: z.string() }) as never,
  )
  const event = { type: 'status', at: '1', order: { state: 'stored' } }
  expect(schema.parse(event)).toEqual(event)
  expect(schema.safeParse({ ...event, type: 'fulfil' }).success).toBe(false)
})
