import type { Lane, StoreReader, StoreWriter } from '../../store/types.js'
import type { OrdersContext } from './types.js'

/** Name of the value that lists the accounts that ever sent on a chain. */
const lanesKey = (chainId: number): string => `lanes:${chainId}`

type Values = Pick<StoreReader, 'getValue'>

/** Records the wallets, so that we notice when one is removed. */
export async function rememberLanes(
  { wallets }: Pick<OrdersContext, 'wallets'>,
  tables: StoreWriter,
): Promise<void> {
  for (const chainId of new Set(wallets.map(({ lane }) => lane.chainId))) {
    const here = wallets.filter(({ lane }) => lane.chainId === chainId)
    const isKnown = (known: readonly string[]) =>
      here.every(({ lane }) => known.includes(lane.account))
    if (isKnown(await readAccounts(tables, chainId))) continue
    await tables.lock(lanesKey(chainId))
    const known = await readAccounts(tables, chainId)
    const accounts = new Set([
      ...known,
      ...here.map(({ lane }) => lane.account),
    ])
    await tables.setValue(lanesKey(chainId), { accounts: [...accounts] })
  }
}

/** Lanes of a chain whose wallets were removed. */
export async function findOrphans(
  { wallets }: Pick<OrdersContext, 'wallets'>,
  tables: Values,
  chainId: number,
): Promise<Lane[]> {
  const accounts = await readAccounts(tables, chainId)
  return accounts
    .filter(
      (account) =>
        !wallets.some(
          ({ lane }) => lane.chainId === chainId && lane.account === account,
        ),
    )
    .map((account) => ({ chainId, account }))
}

async function readAccounts(
  tables: Values,
  chainId: number,
): Promise<Lane['account'][]> {
  const { accounts } = Object(await tables.getValue(lanesKey(chainId)))
  return Array.isArray(accounts) ? accounts : []
}
