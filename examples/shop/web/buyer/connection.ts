import { useSyncExternalStore } from 'react'
import type { Address } from 'viem'
import type { AnnouncedWallet, WalletProvider } from '../wallet/types.js'

/** A wallet that showed an account to this page. */
export type Connection = AnnouncedWallet & { account: Address }

const key = 'wallet'
const unsupported = [4200, -32_601]
let connection: Connection | undefined
const listeners = new Set<() => void>()

export function useConnection(): Connection | undefined {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => connection,
  )
}

/** Asks a wallet for an account; the wallet asks its user. */
export async function connect(wallet: AnnouncedWallet): Promise<Connection> {
  const accounts = await wallet.provider.request({
    method: 'eth_requestAccounts',
  })
  return use(wallet, accounts)
}

/** Has the wallet let its user choose again. */
export async function changeAccount({
  info,
  provider,
}: AnnouncedWallet): Promise<Connection> {
  const ask = { method: 'wallet_requestPermissions' }
  await provider
    .request({ ...ask, params: [{ eth_accounts: {} }] })
    .catch((error: unknown) => {
      // Some wallets leave the choice to their own window.
      if (!unsupported.includes(Object(error).code)) throw error
    })
  return connect({ info, provider })
}

/** Takes up the wallet of before a reload, if it still shows an account. */
export async function reconnect(
  wallets: readonly AnnouncedWallet[],
): Promise<void> {
  const rdns = sessionStorage.getItem(key)
  const wallet = wallets.find(({ info }) => info.rdns === rdns)
  if (connection || !wallet) return
  const accounts = await wallet.provider
    .request({ method: 'eth_accounts' })
    .catch(() => [])
  if (Array.isArray(accounts) && accounts.length > 0) use(wallet, accounts)
}

function use(wallet: AnnouncedWallet, accounts: unknown): Connection {
  const [account] = accounts as Address[]
  if (!account) throw new Error('The wallet shows no account.')
  sessionStorage.setItem(key, wallet.info.rdns)
  if (connection?.provider !== wallet.provider) follow(wallet)
  return tell({ ...wallet, account })
}

const followed = new WeakSet<WalletProvider>()

/** What the user changes in the wallet shows in the page. */
function follow(wallet: AnnouncedWallet): void {
  const { provider } = wallet
  if (followed.has(provider)) return
  followed.add(provider)
  provider.on?.('accountsChanged', ([account]: readonly Address[]) => {
    if (connection?.provider === provider)
      tell(account && { ...wallet, account })
  })
}

function tell<next extends Connection | undefined>(next: next): next {
  connection = next
  for (const listener of listeners) listener()
  return next
}
