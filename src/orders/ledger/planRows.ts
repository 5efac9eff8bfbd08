import type { Address, Client } from 'viem'
import type { ChainHeads } from '../../chain/state/getHeads.js'
import type { Finality } from '../../core/types.js'
import type { Destination, Submitter } from '../../store/types.js'
import type { Cause } from './causeOf.js'
import type { Unit } from './describeToken.js'
import type { LedgerRow } from './types.js'

export type ReadHeads = (client: Client) => Promise<ChainHeads>

/** A transfer of tokens to or from a recipient. */
type Movement = Pick<
  LedgerRow,
  'transactionHash' | 'blockNumber' | 'blockTime' | 'logIndex' | 'finality'
> & {
  value: bigint
  from: Address
  to: Address
}

/**
 * Returns the rows of one transfer: one if the recipient received it, one if it
 * sent it, two if it sent tokens to itself.
 * @param cause what this transfer was made for, if the store knows it.
 * @param options.settlers contracts whose payments are claims, whoever sent them.
 */
export function rowsOfMovement(
  destination: Destination,
  unit: Unit,
  movement: Movement,
  cause: Cause | undefined,
  { settlers }: { settlers: ReadonlySet<Address> },
): LedgerRow[] {
  const { recipient } = destination
  const { from, to, value, ...place } = movement
  const { orderId, refund, movementId } = cause ?? {}
  const shared = { ...emptyRow(destination, unit), ...place }
  const isClaim = cause ? movementId !== undefined : settlers.has(from)
  const isCapture = cause !== undefined && !refund && !isClaim
  const rows: LedgerRow[] = []
  if (to === recipient)
    rows.push({
      ...shared,
      type: isCapture ? 'capture' : isClaim ? 'claim' : 'transfer',
      gross: value,
      net: value,
      orderId: isCapture ? orderId : undefined,
      movementId,
      payer: from,
    })
  if (from === recipient)
    rows.push({
      ...shared,
      type: refund ? 'refund' : 'transfer',
      gross: -value,
      net: -value,
      orderId: refund ? orderId : undefined,
      refundId: refund?.id,
      payer: refund?.to,
      payee: refund ? undefined : to,
    })
  return rows
}

/** Gas that a submitter paid for one transaction. */
export type GasPaid = Pick<
  LedgerRow,
  'transactionHash' | 'blockNumber' | 'blockTime' | 'finality'
> & {
  /** Gas cost in wei. */
  fee: bigint
  cause: Cause
  /** The recipient in whose books the gas is entered. */
  recipient: Address
}

export function rowOfGas(
  { chainId, account }: Submitter,
  unit: Unit,
  { recipient, fee, cause, ...place }: GasPaid,
): LedgerRow {
  return {
    ...emptyRow({ chainId, token: undefined, recipient }, unit),
    ...place,
    type: 'gas',
    fee,
    net: -fee,
    orderId: cause.orderId,
    refundId: cause.refund?.id,
    movementId: cause.movementId,
    submitter: account,
  }
}

/**
 * Returns the row of a payment that was answered at `preconfirmed`, while only
 * the pending block showed its capture, and that failed.
 */
export function rowOfUnpaid(
  destination: Destination,
  unit: Unit,
  facts: Pick<LedgerRow, 'orderId' | 'payer' | 'unpaid' | 'blockTime'>,
): LedgerRow {
  return { ...emptyRow(destination, unit), ...facts, type: 'unpaid' }
}

/**
 * Returns the row of a recipient's balance, before its first or after its last
 * transfer.
 */
export function rowOfBalance(
  type: 'opening' | 'closing',
  destination: Destination,
  unit: Unit,
  place: Pick<LedgerRow, 'balance' | 'blockNumber' | 'blockTime' | 'finality'>,
): LedgerRow {
  return { ...emptyRow(destination, unit), ...place, type }
}

/**
 * Returns the finality of a block, by the node's `safe` and `finalized` blocks.
 */
export function finalityAt(
  { safe, finalized }: Pick<ChainHeads, 'safe' | 'finalized'>,
  blockNumber: bigint,
): Finality {
  if (finalized && blockNumber <= finalized.number) return 'finalized'
  return safe && blockNumber <= safe.number ? 'safe' : 'included'
}

function emptyRow(
  {
    chainId,
    token,
    recipient,
  }: Pick<LedgerRow, 'chainId' | 'token' | 'recipient'>,
  { symbol, decimals }: Unit,
): LedgerRow {
  return {
    type: 'transfer',
    chainId,
    token,
    symbol,
    decimals,
    recipient,
    gross: 0n,
    fee: 0n,
    net: 0n,
    balance: undefined,
    unpaid: undefined,
    finality: undefined,
    transactionHash: undefined,
    blockNumber: 0n,
    blockTime: 0n,
    logIndex: undefined,
    orderId: undefined,
    refundId: undefined,
    movementId: undefined,
    payer: undefined,
    payee: undefined,
    submitter: undefined,
  }
}
