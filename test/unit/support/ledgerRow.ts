import type { LedgerRow } from 'countersign/orders'

/** A row of the ledger: a capture of 12.50, unless changed. */
export function sampleRow(changes: Partial<LedgerRow> = {}): LedgerRow {
  return {
    type: 'capture',
    chainId: 8453,
    token: `0x${'1'.repeat(40)}`,
    symbol: 'USDC',
    decimals: 6,
    recipient: `0x${'2'.repeat(40)}`,
    gross: 12_500_000n,
    fee: 0n,
    net: 12_500_000n,
    balance: undefined,
    unpaid: undefined,
    finality: 'finalized',
    transactionHash: `0x${'3'.repeat(64)}`,
    blockNumber: 100n,
    blockTime: 1_763_000_000n,
    logIndex: 4,
    orderId: 'order-1',
    refundId: undefined,
    movementId: undefined,
    payer: `0x${'5'.repeat(40)}`,
    payee: undefined,
    submitter: undefined,
    ...changes,
  }
}

/** Rows as a stream. */
export async function* streamOf(
  ...rows: readonly LedgerRow[]
): AsyncGenerator<LedgerRow> {
  yield* rows
}

/** All of a stream of text. */
export async function textOf(lines: AsyncIterable<string>): Promise<string> {
  const all: string[] = []
  for await (const line of lines) all.push(line)
  return all.join('')
}
