import { delegateSubmitter } from 'countersign/batches'
import type { DevChain } from 'countersign/devchain'
import { type Captured, captureAll } from './captureAll.js'
import { choosePaints, groupDigits } from './format.js'
import { openShop, type Shop } from './openShop.js'
import { sellAll, sellOne } from './sellAll.js'
import { fillPurse, moveToSavings } from './wallets.js'

/** One way to capture all orders, as it went. */
type Way = Pick<Captured, 'seconds' | 'requests'> & {
  name: string
  captured: number
  transactions: number
  /** Of a capture, on average. */
  gas: bigint
  /** How many were not captured, by reason. */
  refused: Readonly<Record<string, number>>
}

export type BatchRun = { asTold: boolean; count: number; ways: readonly Way[] }

/** Orders whose payer has moved the money away by the time of the capture. */
const spoiled = 3

/** Captures as many orders one by one, and again in batches. */
export async function playBatch(
  chain: DevChain,
  {
    amount,
    count,
    colours,
    write,
  }: {
    amount: string
    count: number
    colours: boolean
    write: ((line: string) => void) | undefined
  },
): Promise<BatchRun> {
  const { bold, green, red } = choosePaints(colours)
  write?.(bold(`${count} orders of ${amount} USDC, captured in two ways`))
  write?.(`of ${spoiled} more, the payer moves the money away\n`)
  const ways: Way[] = []
  for (const isBatched of [false, true]) {
    const way = await playWay(chain, { amount, count, isBatched })
    ways.push(way)
    for (const line of describe(way)) write?.(line)
  }
  const asTold = ways.every(
    ({ captured, refused }) =>
      captured === count && refused.insufficientFunds === spoiled,
  )
  write?.(
    asTold
      ? green('\n✓ each order captured once, and only those that could be')
      : red('\n✗ ends otherwise'),
  )
  return { asTold, count, ways }
}

async function playWay(
  chain: DevChain,
  {
    amount,
    count,
    isBatched,
  }: { amount: string; count: number; isBatched: boolean },
): Promise<Way> {
  const batch = isBatched ? 'auto' : 'off'
  const policy = { maxInFlight: 500, window: 3_600n, batch } as const
  const shop = await openShop(chain, { policy })
  try {
    // Nothing delegates by itself.
    if (isBatched) await delegateSubmitter(shop.merchant)
    const { orderIds } = await sellAll(chain, shop, { amount, count })
    const broken = await sellSpoiled(chain, shop, amount)
    const captured = await captureAll(shop, {
      orderIds: [...orderIds, ...broken],
      onProgress: () => undefined,
    })
    return sumUp(isBatched ? 'in batches' : 'one by one', captured)
  } finally {
    await shop.close()
  }
}

async function sellSpoiled(
  chain: DevChain,
  shop: Shop,
  amount: string,
): Promise<string[]> {
  await fillPurse(chain)
  const { account } = chain.clients.payer
  const orderIds: string[] = []
  for (let sold = 0; sold < spoiled; sold++)
    orderIds.push(await sellOne(shop, account, amount))
  const hash = await moveToSavings(chain)
  await chain.clients.public.waitForTransactionReceipt({ hash })
  return orderIds
}

function sumUp(name: string, { results, seconds, requests }: Captured): Way {
  const proofs = results.flatMap((result) =>
    result.status === 'captured' ? [result.proof] : [],
  )
  const refused: Record<string, number> = {}
  for (const result of results)
    if (result.status === 'rejected')
      refused[result.reason] = (refused[result.reason] ?? 0) + 1
  const gas = proofs.reduce((sum, { gasUsed }) => sum + gasUsed, 0n)
  return {
    name,
    captured: proofs.length,
    transactions: new Set(proofs.map((proof) => proof.transactionHash)).size,
    gas: gas / BigInt(proofs.length || 1),
    seconds,
    requests,
    refused,
  }
}

function describe({ name, captured, transactions, gas, ...way }: Way) {
  const refusals = Object.entries(way.refused).map(
    ([reason, many]) => `   ${many} not captured, at no cost: ${reason}`,
  )
  return [
    `   ${name.padEnd(12)}${captured} captures in ${transactions} transactions, ${way.seconds.toFixed(2)} s, ${groupDigits(String(gas))} gas each, ${way.requests} HTTP requests`,
    ...refusals,
  ]
}
