import type { OrderEvent } from '../../orders/index.js'
import { formatFacts, formatMilliseconds } from '../terminal/formats.js'
import { withShop } from '../terminal/openShop.js'
import { parseNumberOption, shopOptions } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

/** Most events that one query loads. */
const pageSize = 500

export const eventsCommand: Command = {
  name: 'events',
  summary: 'Lists events, the oldest first.',
  positionals: '',
  mostPositionals: 0,
  options: {
    ...shopOptions,
    after: {
      type: 'string',
      value: 'CURSOR',
      help: 'Only events after this cursor. Default: 0, the beginning.',
    },
    order: {
      type: 'string',
      value: 'ID',
      help: 'Only events of this order.',
    },
    limit: {
      type: 'string',
      value: 'COUNT',
      help: 'At most this many. Default: 100.',
    },
    json: { type: 'boolean', help: 'Write one JSON object a line.' },
  },
  details: [],
  example: 'npx countersign events --after 120 --json',
  run: async (input) => {
    const print = createPrinter(input.io)
    let after = parseNumberOption('after', input.text('after')) ?? 0n
    let left = Number(parseNumberOption('limit', input.text('limit')) ?? 100n)
    const orderId = input.text('order')
    await withShop(input, async ({ orders }) => {
      while (left > 0) {
        const limit = Math.min(left, pageSize)
        const page = await orders.events({ after, orderId, limit })
        if (orderId && page.events.length > 0) input.reveal(orderId)
        for (const event of page.events) {
          if (input.flag('json')) print.json(event)
          else print.line(describeEvent(event))
        }
        after = page.cursor
        left -= limit
        if (page.events.length < limit) return
      }
    })
    return 0
  },
}

/** Writes an event as one line. */
function describeEvent(event: OrderEvent): string {
  const { cursor, at, orderId, type, data } = event
  return [
    `${cursor}`.padStart(6),
    formatMilliseconds(at),
    (orderId ?? '-').padEnd(16),
    type,
    ...formatFacts(data),
  ].join('  ')
}
