import { parseArgs } from 'node:util'
import { parseAmount } from 'countersign'

export const help = `Plays five orders on a local chain and shows what becomes of them.

  npm run demo -- [options]

  --amount 12.50  what each order is about, in USDC (the payer has 10,000)
  --crash         kill the worker between broadcast and record, and restart it
  --fork URL      fork a live Base node and use its real USDC
  --json          print one JSON document and nothing else
  --help          print this

Exits with 0 only if every story ended as told.`

export type DemoOptions = {
  amount: string
  crash: boolean
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
      fork: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { amount = '', crash = false, fork } = values
  const { json = false, help = false } = values
  parseAmount(amount)
  if (fork !== undefined && !URL.canParse(fork))
    throw new TypeError('--fork takes the URL of a node')
  return { amount, crash, fork, json, help }
}
