import type { AnnouncedWallet, WalletProvider } from './types.js'

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4a4fd0"/><path d="M8 12h16v11H8zM8 12l11-4v4M19.5 17.5H21" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>',
)}`

/**
 * Announces a wallet for people without an extension, as an extension would.
 * All but its name is loaded when it is asked for something.
 */
export function announceDevelopmentWallet(): void {
  let opened: Promise<WalletProvider> | undefined
  const open = (): Promise<WalletProvider> => {
    opened ??= import('./openDevelopmentWallet.js')
      .then(({ openDevelopmentWallet }) => openDevelopmentWallet())
      .catch((error: unknown) => {
        opened = undefined
        throw error
      })
    return opened
  }
  const wallet: AnnouncedWallet = Object.freeze({
    info: Object.freeze({
      uuid: crypto.randomUUID(),
      name: 'Development wallet',
      rdns: 'localhost.development-wallet',
      icon,
    }),
    provider: {
      request: async (args) => (await open()).request(args),
      // Nothing changes in a wallet that is not open.
      on: (event, listener) => opened?.then(({ on }) => on?.(event, listener)),
      removeListener: (event, listener) =>
        opened?.then((provider) => provider.removeListener?.(event, listener)),
    },
  })
  const announce = (): void => {
    const options = { detail: wallet }
    dispatchEvent(new CustomEvent('eip6963:announceProvider', options))
  }
  addEventListener('eip6963:requestProvider', announce)
  announce()
}
