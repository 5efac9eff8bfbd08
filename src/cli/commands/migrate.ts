import { loadConfig } from '../terminal/loadConfig.js'
import { shopOptions } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

export const migrateCommand: Command = {
  name: 'migrate',
  summary: 'Creates the tables, or brings them to this release.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'Stop the servers and workers of older releases first: they refuse migrated tables. A server of this release migrates by itself when it starts.',
  ],
  example: 'npx countersign migrate',
  run: async ({ io, text, flag }) => {
    const print = createPrinter(io)
    const { store } = await loadConfig(io, text('config'))
    try {
      const { identity } = await store.open()
      if (flag('json')) print.json({ migrated: true, identity })
      else print.line('The tables are those of this release.')
    } finally {
      await store.close()
    }
    return 0
  },
}
