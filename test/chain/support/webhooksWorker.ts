/** Delivers events as a process of its own: `place url secret certificate`. */
import process from 'node:process'
import {
  runWebhooksWith,
  webhookTools,
} from '../../../src/webhooks/runWebhooks.js'
import { createStream } from '../../unit/support/webhooksStream.js'
import { storeAt } from './webhooksPlace.js'

const [place = '', url = '', secret = '', ca = ''] = process.argv.slice(2)
const { store, orders } = createStream(storeAt(place))

await runWebhooksWith(
  orders,
  {
    store,
    targets: [
      {
        name: 'test',
        url,
        ca,
        secrets: [secret],
        privateHosts: ['localhost'],
      },
    ],
    signal: new AbortController().signal,
  },
  // A lease that runs out soon after a kill, and is longer than a try.
  { ...webhookTools, pause: () => 20, lease: 3000, timeout: 1500, standby: 50 },
)
