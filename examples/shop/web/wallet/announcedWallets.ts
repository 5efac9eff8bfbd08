import { useSyncExternalStore } from 'react'
import type { AnnouncedWallet } from './types.js'

let wallets: readonly AnnouncedWallet[] = []
const listeners = new Set<() => void>()

/** Asks the wallets of this browser to announce themselves, by EIP-6963. */
export function discoverWallets(): void {
  addEventListener('eip6963:announceProvider', (event) => {
    const { detail } = event as CustomEvent<AnnouncedWallet>
    if (!isWallet(detail)) return
    const others = wallets.filter(({ info }) => info.rdns !== detail.info.rdns)
    wallets = [...others, detail]
    for (const listener of listeners) listener()
  })
  dispatchEvent(new Event('eip6963:requestProvider'))
}

/** The wallets there are, as they come. */
export function useWallets(): readonly AnnouncedWallet[] {
  return useSyncExternalStore(subscribe, () => wallets)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function isWallet(detail: unknown): detail is AnnouncedWallet {
  const { info, provider } = Object(detail)
  const { name, rdns, icon } = Object(info)
  return (
    [name, rdns, icon].every((text) => typeof text === 'string') &&
    typeof Object(provider).request === 'function'
  )
}
