import type { WalletProvider } from './developmentWallet.js'

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#4a4fd0"/><path d="M8 12h16v11H8zM8 12l11-4v4M19.5 17.5H21" fill="none" stroke="#fff" stroke-width="2" stroke-linejoin="round" stroke-linecap="round"/></svg>',
)}`

/**
 * Announces a wallet for people without an extension, as an extension does by
 * EIP-6963. Its code is loaded when it is asked for something.
 */
export function announceDevelopmentWallet(): void {
  const provider: WalletProvider = {
    request: async (args) => {
      const { developmentWallet } = await import('./developmentWallet.js')
      return developmentWallet.request(args)
    },
  }
  const info = {
    uuid: crypto.randomUUID(),
    name: 'Development wallet',
    rdns: 'localhost.development-wallet',
    icon,
  }
  addEventListener('eip6963:requestProvider', () => {
    const detail = Object.freeze({ info, provider })
    dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
  })
}
