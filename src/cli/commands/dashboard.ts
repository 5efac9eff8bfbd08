import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { UsageError } from '../terminal/errors.js'
import { type OpenedShop, withShop } from '../terminal/openShop.js'
import { parseNumberOption, shopOptions } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import { serveLoopback } from '../terminal/serveLoopback.js'
import type { Command } from '../terminal/types.js'

export const dashboardCommand: Command = {
  name: 'dashboard',
  summary: 'Serves the merchant’s pages to a browser on this machine.',
  positionals: '',
  mostPositionals: 0,
  options: {
    ...shopOptions,
    port: {
      type: 'string',
      value: 'PORT',
      help: 'Port of 127.0.0.1. Default: one that is free.',
    },
    write: {
      type: 'boolean',
      help: 'Let the pages capture, void, reconcile and replay webhooks. Without it they only read.',
    },
    refunds: {
      type: 'string',
      value: 'AMOUNT',
      help: 'With --write: most to refund on one day, such as 50.00. Default: none.',
    },
  },
  details: [
    'Runs until you interrupt it. The address that it prints ends with a key, which is new each time. Anybody who has the address can use the pages, so do not share it.',
    'The shop’s running worker sends the captures that you request. This command does not.',
  ],
  example: 'npx countersign dashboard --write',
  run: async (input) => {
    const { io, text, flag } = input
    const port = Number(parseNumberOption('port', text('port')) ?? 0n)
    if (port > 65_535)
      throw new UsageError('--port must be a number from 0 to 65535.')
    const write = flag('write')
    const refunds = parseRefunds(text('refunds'), write)
    const print = createPrinter(io)
    const key = randomBytes(32).toString('base64url')
    const serve = async ({ orders, context }: OpenedShop) => {
      // Fails here if there is no database, before it serves anything.
      await orders.list({ limit: 1 })
      // Imported late, because the pages are large.
      const { createMerchantSite } = await import(
        '../../pages/createMerchantSite.js'
      )
      const site = createMerchantSite(orders, {
        basePath: '',
        name: context.shop.name ?? 'Your shop',
        write,
        authorize: ({ headers }) =>
          isSame(headers.get('authorization') ?? '', `Bearer ${key}`)
            ? {
                recipients: context.recipients,
                operates: write,
                ...(refunds && { refunds }),
              }
            : undefined,
      })
      const { origin, close } = await serveLoopback(port, site)
      try {
        const url = `${origin}/#key=${key}`
        if (flag('json')) print.json({ url, write })
        else {
          print.line(url)
          print.line(
            write
              ? 'The pages can capture and void. Press Ctrl+C to end.'
              : 'The pages only read. Press Ctrl+C to end.',
          )
        }
        await io.untilInterrupted()
      } finally {
        await close()
      }
      return 0 as const
    }
    return withShop(input, serve, write ? 'write' : 'read')
  },
}

function parseRefunds(
  perDay: string | undefined,
  write: boolean,
): { perDay: string } | undefined {
  if (perDay === undefined) return undefined
  if (!write) throw new UsageError('--refunds needs --write.')
  if (!/^\d{1,20}(\.\d{1,18})?$/.test(perDay))
    throw new UsageError('--refunds must be an amount such as 50.00.')
  return { perDay }
}

/** Compares in constant time, so that timing reveals nothing about the key. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(expected))
}
