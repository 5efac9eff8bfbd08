/** A worker: does all that is due until it is told to stop, or cannot go on. */
import process from 'node:process'
import { createOrders } from 'countersign/orders'
import parameters from './countersign.config.js'
import { endWith } from './endWith.js'

const orders = createOrders(parameters)
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())
await orders.run({ signal: stopping.signal }).catch(endWith)
await orders.close()
process.exit()
