import type { ReactNode } from 'react'
import { createRoot } from 'react-dom/client'
import { askJson } from '../api/askShop.js'
import { visitFaucet } from '../api/shop.js'
import { askUser } from './askUser.js'
import { networks } from './networks.js'
import { signInWords } from './signInWords.js'
import type { RequestArguments, WalletProvider } from './types.js'
import { WalletDialogs } from './WalletDialogs.js'
import { WalletFault } from './WalletFault.js'
import {
  accountOf,
  keepMemory,
  openMemory,
  type WalletMemory,
} from './walletMemory.js'

/** What the methods of the wallet work on. */
export type OpenWallet = {
  memory: WalletMemory
  /** Changes what is remembered, and tells the page what concerns it. */
  change(changes: Partial<WalletMemory>): void
  /** The accounts the page may see. */
  accounts(): string[]
  /** Resolves once the everyday account holds test money. */
  funded: Promise<unknown>
}

type Method = (
  wallet: OpenWallet,
  params: readonly unknown[],
) => unknown | Promise<unknown>

const methods: Readonly<Record<string, Method>> = {
  eth_accounts: ({ accounts }) => accounts(),
  eth_chainId: ({ memory }) => toHex(memory.chainId),
  net_version: ({ memory }) => String(memory.chainId),
  eth_requestAccounts: async (wallet) => {
    if (!wallet.memory.isConnected) await connect(wallet)
    return wallet.accounts()
  },
  wallet_requestPermissions: async (wallet) => {
    await connect(wallet)
    return [{ parentCapability: 'eth_accounts' }]
  },
  wallet_switchEthereumChain: switchChain,
  eth_signTypedData_v4: signInWords,
}

/** A wallet in the page: real signatures, worthless money. */
export function openDevelopmentWallet(): WalletProvider {
  const events = new EventTarget()
  const wallet = openWallet((type, detail) =>
    events.dispatchEvent(new CustomEvent(type, { detail })),
  )
  mount(<WalletDialogs memory={wallet.memory} funded={wallet.funded} />)
  const bound = new Map<unknown, EventListener>()
  return {
    request: async ({ method, params = [] }: RequestArguments) => {
      const run = methods[method]
      return run ? run(wallet, params as unknown[]) : callNode(method, params)
    },
    on: (type, listener) => {
      const call = (event: Event) =>
        listener((event as CustomEvent).detail as never)
      bound.set(listener, call)
      events.addEventListener(type, call)
    },
    removeListener: (type, listener) =>
      events.removeEventListener(type, bound.get(listener) ?? null),
  }
}

function openWallet(tell: (type: string, detail: unknown) => void): OpenWallet {
  const memory = openMemory()
  const address = () => accountOf(memory, memory.selected).address.toLowerCase()
  const accounts = () => (memory.isConnected ? [address()] : [])
  return {
    memory,
    accounts,
    funded: visitFaucet(accountOf(memory, 'everyday').address).catch(
      // Its balance says what it holds.
      () => undefined,
    ),
    change: (changes) => {
      const before = { account: address(), chainId: memory.chainId }
      Object.assign(memory, changes)
      keepMemory(memory)
      if (memory.chainId !== before.chainId)
        tell('chainChanged', toHex(memory.chainId))
      if (address() !== before.account) tell('accountsChanged', accounts())
    },
  }
}

async function connect({ change, funded }: OpenWallet): Promise<void> {
  const { account, chainId } = await askUser({ ask: 'connect' })
  await funded
  change({ isConnected: true, selected: account, chainId })
}

async function switchChain(
  { memory, change }: OpenWallet,
  [wanted]: readonly unknown[],
): Promise<null> {
  const chainId = Number(Object(wanted).chainId)
  if (chainId === memory.chainId) return null
  if (!networks.some((network) => network.chainId === chainId))
    throw new WalletFault(4902, 'This wallet does not know the chain.')
  await askUser({ ask: 'switch', chainId })
  change({ chainId })
  return null
}

async function callNode(method: string, params: unknown): Promise<unknown> {
  const call = { jsonrpc: '2.0', id: 1, method, params }
  const { result, error } = await askJson<{
    result?: unknown
    error?: { code: number; message: string }
  }>('/rpc', { body: JSON.stringify(call) })
  if (error) throw new WalletFault(error.code, error.message)
  return result
}

function toHex(chainId: number): string {
  return `0x${chainId.toString(16)}`
}

function mount(dialogs: ReactNode): void {
  const element = document.createElement('div')
  document.body.append(element)
  createRoot(element).render(dialogs)
}
