import type { Model } from './model.js'
import { type FoundWallet, readAccount } from './wallets.js'

/** The page that shows the connected wallet. */
type Following = {
  model(): Pick<Model, 'connection' | 'failure'>
  change(changes: Pick<Model, 'connection' | 'failure'>): void
}

const followed = new WeakMap<object, WeakSet<Following>>()

/** Shows changes that the user makes in the wallet. */
export function followWallet(
  following: Following,
  { provider, ...wallet }: FoundWallet,
): void {
  const known = followed.get(provider) ?? new WeakSet()
  if (known.has(following)) return
  followed.set(provider, known.add(following))
  provider.on?.('accountsChanged', (accounts: readonly string[]) => {
    if (following.model().connection?.wallet.provider !== provider) return
    const account = readAccount(accounts)
    following.change({
      connection: account && { wallet: { ...wallet, provider }, account },
      failure: undefined,
    })
  })
  provider.on?.('chainChanged', () => {
    if (following.model().failure?.help === 'switchNetwork')
      following.change({ failure: undefined })
  })
}
