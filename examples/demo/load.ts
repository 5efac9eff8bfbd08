import { formatAmount, parseAmount } from 'countersign'
import type { DevChain } from 'countersign/devchain'
import type { AuditReport } from 'countersign/orders'
import { type Captured, captureAll, type Progress } from './captureAll.js'
import type { LoadNarrator } from './narrateLoad.js'
import { openShop, type Shop } from './openShop.js'
import { sellAll } from './sellAll.js'
import { balanceOf } from './wallets.js'

type LoadParameters = {
  /** Of each order: a decimal, in whole tokens. */
  amount: string
  count: number
  database: string | undefined
  narrator: LoadNarrator | undefined
}

type LoadBalances = { payers: bigint; merchant: bigint }

/** All orders of the load as they went. */
export type LoadRun = Omit<Captured, 'results'> & {
  asTold: boolean
  /** What was otherwise than told. */
  problem: string | undefined
  amount: string
  count: number
  url: string
  chainId: number
  store: 'SQLite' | 'PostgreSQL'
  captured: number
  /** Blocks the captures are in. */
  blocks: number
  perSecond: number
  balances: { before: LoadBalances; after: LoadBalances }
  audit: Pick<
    AuditReport['destinations'][number],
    'chain' | 'captured' | 'differences'
  >
}

/** Captures many orders at once on one account, and proves what that moved. */
export async function playLoad(
  chain: DevChain,
  { amount, count, database, narrator }: LoadParameters,
): Promise<LoadRun> {
  const about = {
    amount,
    count,
    url: chain.urls.http,
    chainId: chain.chain.id,
    store: database === undefined ? 'SQLite' : 'PostgreSQL',
  } as const
  narrator?.open(about)
  const policy = { maxInFlight: 500, window: 3_600n }
  const shop = await openShop(chain, { policy, database })
  try {
    const fromBlock = await chain.clients.public.getBlockNumber()
    const { orderIds, ...sold } = await sellAll(chain, shop, { amount, count })
    narrator?.sold(sold)
    const readBalances = () => readSums(chain, shop, sold.payers)
    const before = await readBalances()
    const onProgress = (progress: Progress) => narrator?.progress(progress)
    const captured = await captureAll(shop, { orderIds, onProgress })
    const balances = { before, after: await readBalances() }

    await shop.orders.reconcile({ fromBlock })
    const { destinations } = await shop.orders.audit({ fromBlock })
    const run = sumUp({
      ...about,
      ...captured,
      balances,
      audit: destinations[0],
    })
    narrator?.close(run)
    return run
  } finally {
    await shop.close()
  }
}

async function readSums(
  chain: DevChain,
  { merchant }: Shop,
  payers: readonly { address: DevChain['token'] }[],
): Promise<LoadBalances> {
  const balances = await Promise.all(
    payers.map(({ address }) => balanceOf(chain, address)),
  )
  return {
    payers: balances.reduce((sum, balance) => sum + balance, 0n),
    merchant: await balanceOf(chain, merchant.account.address),
  }
}

type Went = Omit<
  LoadRun,
  'asTold' | 'problem' | 'captured' | 'blocks' | 'perSecond' | 'audit'
> & {
  results: Captured['results']
  audit: AuditReport['destinations'][number] | undefined
}

function sumUp({ results, audit, ...went }: Went): LoadRun {
  const proofs = results.flatMap((result) =>
    result.status === 'captured' ? [result.proof] : [],
  )
  const run = {
    ...went,
    captured: proofs.length,
    blocks: new Set(proofs.map(({ blockNumber }) => blockNumber)).size,
    perSecond: proofs.length / went.seconds,
    audit: {
      chain: audit?.chain ?? nothing,
      captured: audit?.captured ?? nothing,
      differences: audit?.differences ?? [],
    },
  }
  const problem = findProblem(run)
  return { ...run, asTold: problem === undefined, problem }
}

const nothing = { count: 0, value: 0n }

/** Every unit the payers have less, the merchant, chain and record have. */
export function findProblem({
  amount,
  count,
  captured,
  balances: { before, after },
  audit,
}: Pick<LoadRun, 'amount' | 'count' | 'captured' | 'balances' | 'audit'>):
  | string
  | undefined {
  const due = parseAmount(amount) * BigInt(count)
  if (captured !== count) return `${captured} of ${count} were captured`
  const sums = [
    before.payers - after.payers,
    after.merchant - before.merchant,
    audit.chain.value,
    audit.captured.value,
  ]
  const odd = sums.find((sum) => sum !== due)
  if (odd !== undefined)
    return `${formatAmount(odd)} moved instead of ${formatAmount(due)}`
  const { differences } = audit
  return differences.length > 0
    ? `chain and record differ in ${differences.length} places`
    : undefined
}
