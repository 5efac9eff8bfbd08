import process from 'node:process'
import type { OrderEvent } from 'countersign/orders'
import type { PaymentStore, StoreWriter } from 'countersign/store'
import type { WebhookPayload } from 'countersign/webhooks'
import { afterEach, expect } from 'vitest'
import * as z from 'zod'
import { toJson } from '../../../src/core/toJson.js'
import { openApi } from '../../../src/http/routes/openApi.js'
import { createRoutes } from '../../../src/http/routes/routes.js'

type Json = Record<string, unknown>
type Schemas = Record<string, Json>

/** The schemas of the OpenAPI document. */
const { schemas } = openApi(createRoutes(''), '').components as {
  schemas: Schemas
}

const ready = new Map<string, z.ZodType>()

/** By the JSON Schema in the document, not by what it was made of. */
function schemaOf(name: string): z.ZodType {
  const known = ready.get(name)
  if (known) return known
  const text = JSON.stringify({ ...schemas[name], $defs: schemas })
  const made = z.fromJSONSchema(
    JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')),
  )
  ready.set(name, made)
  return made
}

/** What in a value is not as the document says, if anything. */
export function misfitsOf(name: string, value: unknown): unknown {
  if (!schemas[name]) return `no schema ${name}`
  const { error } = schemaOf(name).safeParse(JSON.parse(toJson(value)))
  return error?.issues
}

/** The name of the schema of one type of event. */
function schemaNameOf(type: string): string {
  return `${type.charAt(0).toUpperCase()}${type.slice(1)}Event`
}

/** What in a webhook is not as the document says of its event, if anything. */
export function webhookMisfits({ type, data }: WebhookPayload): unknown {
  const { orderId, sequence, chainId, token, recipient, at, ...own } = data
  const name = type.replace('order.', '')
  return misfitsOf(schemaNameOf(name), {
    chainId,
    token,
    recipient,
    cursor: '1',
    orderId,
    sequence,
    type: name,
    at,
    data: own,
  })
}

type NewEvents = Parameters<StoreWriter['events']['append']>[0]

const misfits: unknown[] = []

// Scripts load this file too, outside the test runner.
if (process.env.VITEST)
  afterEach(() => {
    expect(misfits.splice(0)).toEqual([])
  })

/** A store that has each event that is written compared with the document. */
export function checkEvents(store: PaymentStore): PaymentStore {
  const check = (rows: NewEvents) => {
    for (const row of rows) {
      const event = { ...row, cursor: 1n } as OrderEvent
      const found = misfitsOf(schemaNameOf(event.type), event)
      if (found) misfits.push([event, found])
    }
  }
  return {
    ...store,
    write: (work, options) =>
      store.write((tables) => {
        const { find, append } = tables.events
        const checked: StoreWriter['events'] = {
          find: (query) => find.call(tables.events, query),
          append: async (rows) => {
            check(rows)
            await append.call(tables.events, rows)
          },
        }
        return work({ ...tables, events: checked })
      }, options),
  }
}
