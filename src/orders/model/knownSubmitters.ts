import type { StoreReader, StoreWriter, Submitter } from '../../store/types.js'
import type { Senders } from './types.js'

/**
 * Key of the stored list of all accounts of `wallets` that this chain ever had.
 */
const submittersKey = (chainId: number): string => `submitters:${chainId}`

type Values = Pick<StoreReader, 'getValue'>

/**
 * Stores the accounts of `wallets`, so that a later start notices if one was
 * removed from the configuration.
 */
export async function rememberSubmitters(
  { wallets }: Pick<Senders, 'wallets'>,
  tables: StoreWriter,
): Promise<void> {
  for (const chainId of new Set(
    wallets.map(({ submitter }) => submitter.chainId),
  )) {
    const here = wallets.filter(
      ({ submitter }) => submitter.chainId === chainId,
    )
    const isKnown = (known: readonly string[]) =>
      here.every(({ submitter }) => known.includes(submitter.account))
    if (isKnown(await loadAccounts(tables, chainId))) continue
    await tables.lock(submittersKey(chainId))
    const known = await loadAccounts(tables, chainId)
    const accounts = new Set([
      ...known,
      ...here.map(({ submitter }) => submitter.account),
    ])
    await tables.setValue(submittersKey(chainId), { accounts: [...accounts] })
  }
}

/**
 * Finds submitters of a chain whose wallets were removed from the
 * configuration.
 */
export async function findOrphans(
  { wallets }: Pick<Senders, 'wallets'>,
  tables: Values,
  chainId: number,
): Promise<Submitter[]> {
  const accounts = await loadAccounts(tables, chainId)
  return accounts
    .filter(
      (account) =>
        !wallets.some(
          ({ submitter }) =>
            submitter.chainId === chainId && submitter.account === account,
        ),
    )
    .map((account) => ({ chainId, account }))
}

async function loadAccounts(
  tables: Values,
  chainId: number,
): Promise<Submitter['account'][]> {
  const { accounts } = Object(await tables.getValue(submittersKey(chainId)))
  return Array.isArray(accounts) ? accounts : []
}
