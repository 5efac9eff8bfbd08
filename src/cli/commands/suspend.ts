import { withShop } from '../terminal/openShop.js'
import { shopOptions } from '../terminal/options.js'
import { createPrinter } from '../terminal/print.js'
import type { Command } from '../terminal/types.js'

export const suspendCommand: Command = {
  name: 'suspend',
  summary: 'Stops everything: no worker sends a transaction any more.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'Each worker obeys when it next reads the database, for every shop on it. Writes this one setting and migrates nothing.',
    'Transactions sent before can still be mined, and signatures stay valid until their window ends.',
  ],
  example: 'npx countersign suspend',
  run: async (input) => {
    const print = createPrinter(input.io)
    await withShop(input, ({ orders }) => orders.suspend(), 'write')
    if (input.flag('json')) print.json({ suspended: true })
    else
      print.line('Suspended: nothing is sent until you run countersign resume.')
    return 0
  },
}

export const resumeCommand: Command = {
  name: 'resume',
  summary: 'Lets workers send again, after suspend or a restored backup.',
  positionals: '',
  mostPositionals: 0,
  options: shopOptions,
  details: [
    'After a restored backup, run countersign reconcile and countersign audit first. Writes this one setting and migrates nothing.',
  ],
  example: 'npx countersign resume',
  run: async (input) => {
    const print = createPrinter(input.io)
    await withShop(input, ({ orders }) => orders.resume(), 'write')
    if (input.flag('json')) print.json({ suspended: false })
    else print.line('Resumed: workers send again.')
    return 0
  },
}
