import { formatAmount } from 'countersign'
import type { AuditReport, AuditSum } from 'countersign/orders'

/** An audit as a table: what came in, what it was for, and what is odd. */
export function printAudit({ ok, destinations }: AuditReport): void {
  for (const {
    chain,
    captured,
    unmatched,
    differences,
    ...audit
  } of destinations) {
    const { fromBlock, toBlock, destination } = audit
    console.log(`${destination.recipient}, blocks ${fromBlock} to ${toBlock}`)
    printSum('on chain', chain)
    printSum('of orders', captured)
    printSum('without order', unmatched)
    for (const { transactionHash, onChain, onRecord } of differences) {
      const [moved, noted] = [onChain, onRecord].map(writeSum)
      const hash = `${transactionHash.slice(0, 6)}…${transactionHash.slice(-4)}`
      console.log(`  in ${hash}: ${moved} on chain, ${noted} on record`)
    }
  }
  console.log(ok ? '  chain and record agree' : '  chain and record differ')
}

function printSum(name: string, { count, value }: AuditSum): void {
  console.log(`  ${name.padEnd(14)}${count} x ${writeSum(value).padStart(6)}`)
}

function writeSum(value: bigint | undefined): string {
  if (value === undefined) return 'nothing'
  const [whole, fraction = ''] = formatAmount(value).split('.')
  return `${whole}.${fraction.padEnd(2, '0')}`
}
