import type { Client } from 'viem'
import { type ChainHeads, getHeads } from '../../chain/state/getHeads.js'
import { checkMembers } from '../../core/checkMembers.js'
import { checkSignal } from '../../core/checkSignal.js'
import { checkUnit } from '../../core/clock.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import type { Submitter } from '../../store/types.js'
import type { OrdersContext } from '../context/types.js'
import { endingContext } from '../loop/endingContext.js'
import { findOrphans } from '../model/knownSubmitters.js'
import { mergeLedgerRows } from './mergeLedgerRows.js'
import type { ReadHeads } from './planRows.js'
import { rowsOfGas } from './rowsOfGas.js'
import { rowsOfUnpaid } from './rowsOfUnpaid.js'
import { rowsOnChain } from './rowsOnChain.js'
import { rowsOnRecord } from './rowsOnRecord.js'
import type { LedgerParameters, LedgerRange, LedgerRow } from './types.js'

/** Implements `ledger` of `DestinationOrders`. */
export async function* readLedger(
  context: OrdersContext,
  parameters: LedgerParameters = {},
): AsyncGenerator<LedgerRow> {
  checkMembers(parameters, ['from', 'to', 'transfers', 'signal'])
  const range = parseRange(parameters)
  const { transfers = false, signal } = parameters
  if (typeof transfers !== 'boolean')
    throw new InvalidFieldError('transfers', shown(transfers), [true, false])
  if (signal === undefined) {
    yield* mergeLedgerRows(await openSources(context, range, transfers))
    return
  }
  checkSignal(signal)
  signal.throwIfAborted()
  const ending = endingContext(context, signal)
  try {
    for await (const row of mergeLedgerRows(
      await openSources(ending, range, transfers),
    )) {
      yield row
      signal.throwIfAborted()
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  }
}

/**
 * Opens the streams that the ledger's rows come from. A stream reads nothing
 * before its first row is asked for.
 */
async function openSources(
  context: OrdersContext,
  range: LedgerRange,
  transfers: boolean,
): Promise<AsyncGenerator<LedgerRow>[]> {
  const submitters = await findSubmitters(context)
  const { destinations } = context
  const readHeads = shareHeads(context)
  const onChain = transfers ? destinations : []
  return [
    ...onChain.map((destination) =>
      rowsOnChain(context, destination, range, { readHeads }),
    ),
    ...destinations.map((destination) =>
      rowsOnRecord(context, destination, range, {
        submitters,
        hasMoves: !transfers,
      }),
    ),
    ...destinations.map((destination) =>
      rowsOfUnpaid(context, destination, range),
    ),
    ...submitters.map((submitter) =>
      rowsOfGas(context, submitter, range, { readHeads, isExact: transfers }),
    ),
  ]
}

/**
 * Reads the newest, `safe` and `finalized` blocks of each node once, so that
 * all rows of one transaction have the same finality.
 */
function shareHeads({ policy }: OrdersContext): ReadHeads {
  const read = new Map<Client, Promise<ChainHeads>>()
  return (client) => {
    const known = read.get(client)
    if (known) return known
    const heads = getHeads(client, policy)
    read.set(client, heads)
    return heads
  }
}

/**
 * Finds the accounts that ever sent transactions for orders of this store. Of
 * their transactions, the ledger shows those whose order it shows.
 */
async function findSubmitters(context: OrdersContext): Promise<Submitter[]> {
  const { store, tokens, wallets, destinations } = context
  if (destinations.length === 0) return []
  const chainIds = [...new Set(tokens.map(({ chainId }) => chainId))]
  const orphans = await store.read(async (tables) => {
    const found: Submitter[] = []
    for (const chainId of chainIds)
      found.push(...(await findOrphans(context, tables, chainId)))
    return found
  })
  return [...wallets.map(({ submitter }) => submitter), ...orphans]
}

function parseRange({
  from = 0n,
  to = 2n ** 63n,
}: LedgerParameters): LedgerRange {
  parseSecond(from, 'from')
  parseSecond(to, 'to')
  return { from, to }
}

function parseSecond(value: unknown, field: string): void {
  checkUnit(value, field)
  const fits = typeof value === 'bigint' && value >= 0n && value <= 2n ** 63n
  if (!fits)
    throw new InvalidFieldError(
      field,
      shown(value),
      'Unix seconds: a bigint of 0 or more',
    )
}
