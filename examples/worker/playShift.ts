import { setTimeout } from 'node:timers/promises'
import { formatAmount } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { Orders } from 'countersign/orders'
import type { Address } from 'viem'
import { sell } from '../orders/sell.js'
import { short, type Worker } from './startWorker.js'

/** Orders of each recipient before the stop, and after it. */
const count = 8

type Shift = {
  orders: Orders
  workers: readonly Worker[]
  recipients: readonly Address[]
}

/** Sells, has the workers capture, and tells whether all is as it should be. */
export async function playShift(
  chain: DevChain,
  { orders, workers, recipients }: Shift,
): Promise<boolean> {
  const fromBlock = await chain.clients.public.getBlockNumber()
  const half = count * recipients.length
  await sellSome(chain, orders, recipients)
  console.log(`${half} orders are accepted, and captured meanwhile`)
  await waitForCaptures(orders, half / 2)
  const [busy] = [...workers].sort((one, other) => sumOf(other) - sumOf(one))
  await busy?.stop()
  await sellSome(chain, orders, recipients)
  console.log(`${half} more orders are accepted`)
  await waitForCaptures(orders, half * 2)

  printTable(workers, recipients)
  const toBlock = await chain.clients.public.getBlockNumber({ cacheTime: 0 })
  const { ok, destinations } = await orders.audit({ fromBlock, toBlock })
  for (const { destination, captured } of destinations)
    console.log(
      `${short(destination.recipient)} has ${formatAmount(captured.value)} USDC by ${captured.count} captures`,
    )
  console.log(ok ? 'chain and record agree' : 'chain and record differ')
  return (
    ok && destinations.every(({ captured }) => captured.count === count * 2)
  )
}

async function sellSome(
  chain: DevChain,
  orders: Orders,
  recipients: readonly Address[],
): Promise<void> {
  const drafts = Array.from({ length: count }, () => recipients).flat()
  await Promise.all(
    drafts.map((recipient) =>
      sell(orders, chain, { amount: '1.00', recipient }),
    ),
  )
}

async function waitForCaptures(orders: Orders, enough: number): Promise<void> {
  for (;;) {
    const { destinations } = await orders.health()
    const captured = destinations.map(({ counts }) => counts.captured ?? 0)
    if (captured.reduce((sum, one) => sum + one, 0) >= enough) return
    await setTimeout(100)
  }
}

function sumOf({ sent }: Worker): number {
  return [...sent.values()].reduce((sum, one) => sum + one, 0)
}

function printTable(
  workers: readonly Worker[],
  recipients: readonly Address[],
): void {
  const row = ([first, ...cells]: readonly (string | number)[]) =>
    console.log(
      `${first}`.padEnd(12),
      ...cells.map((cell) => `${cell}`.padStart(13)),
    )
  row(['sent for', ...recipients.map(short)])
  for (const { name, sent } of workers)
    row([name, ...recipients.map((one) => sent.get(lower(one)) ?? 0)])
}

const lower = (address: Address) => address.toLowerCase() as Address
