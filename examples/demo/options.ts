import { parseArgs } from 'node:util'
import { parseAmount } from 'countersign'

export const help = `Plays five orders on a local chain and shows what becomes of them.

  npm run demo -- [options]

  --amount 12.50  what each order is about, in USDC (the payer has 10,000)
  --crash         kill the worker between broadcast and record, and restart it
  --load 500      capture that many orders at once on one account
  --batch 500     capture that many one by one, and in batches
  --database URL  with --load, keep the orders in that PostgreSQL, in a schema
                  that is dropped in the end
  --fork URL      fork a live Base node and use its real USDC
  --json          print one JSON document and nothing else
  --help          print this

Exits with 0 only if everything ended as told.`

export type DemoOptions = {
  amount: string
  crash: boolean
  /** How many orders. */
  load: number | undefined
  /** How many orders in each of the two ways. */
  batch: number | undefined
  database: string | undefined
  fork: string | undefined
  json: boolean
  help: boolean
}

/** Throws for an option that does not exist, and for an amount that is none. */
export function readOptions(args: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      amount: { type: 'string', default: '12.50' },
      crash: { type: 'boolean', default: false },
      load: { type: 'string' },
      batch: { type: 'string' },
      database: { type: 'string' },
      fork: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { amount = '', crash = false, json = false, help = false } = values
  parseAmount(amount)
  const { fork, database } = values
  if (fork !== undefined && !URL.canParse(fork))
    throw new TypeError('--fork takes the URL of a node')
  const load = readCount('load', values.load)
  const batch = readCount('batch', values.batch)
  if (crash && load) throw new TypeError('--crash and --load are two demos')
  if ((crash || load) && batch)
    throw new TypeError('--batch is a demo of its own')
  if (fork !== undefined && batch)
    throw new TypeError('--batch needs a chain of its own, without --fork')
  if (database !== undefined && !(load && URL.canParse(database)))
    throw new TypeError('--database takes the URL of a PostgreSQL, with --load')
  return { amount, crash, load, batch, database, fork, json, help }
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const count = Number(text)
  if (!Number.isInteger(count) || count < 1 || count > 10_000)
    throw new TypeError(`--${name} takes a number of orders from 1 to 10000`)
  return count
}
