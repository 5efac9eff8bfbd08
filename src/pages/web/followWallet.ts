import type { Model } from './model.js'
import { type FoundWallet, readAccount } from './wallets.js'

const followed = new WeakSet<object>()

type Following = {
  model: () => Pick<Model, 'connection' | 'failure'>
  change: (changes: Pick<Model, 'connection' | 'failure'>) => void
}

/** What the user changes in the wallet shows in the page. */
export function followWallet(
  { provider, ...wallet }: FoundWallet,
  { model, change }: Following,
): void {
  if (followed.has(provider)) return
  followed.add(provider)
  provider.on?.('accountsChanged', (accounts: readonly string[]) => {
    if (model().connection?.wallet.provider !== provider) return
    const account = readAccount(accounts)
    change({
      connection: account && { wallet: { ...wallet, provider }, account },
      failure: undefined,
    })
  })
  provider.on?.('chainChanged', () => {
    if (model().failure?.help === 'switchNetwork')
      change({ failure: undefined })
  })
}
