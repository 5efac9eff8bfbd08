import { createRoot } from 'react-dom/client'
import { askJson } from '../api/askShop.js'
import { visitFaucet } from '../api/shop.js'
import { askUser } from './askUser.js'
import { networks } from './networks.js'
import { readSigningRequest } from './readSigningRequest.js'
import type { RequestArguments, WalletProvider } from './types.js'
import { WalletDialogs } from './WalletDialogs.js'
import { WalletFault } from './WalletFault.js'
import { accountOf, keepMemory, openMemory } from './walletMemory.js'

type Handler = (params: readonly unknown[]) => unknown

/** A wallet in the page: real signatures, worthless money. */
export function openDevelopmentWallet(): WalletProvider {
  const memory = openMemory()
  const events = new EventTarget()
  const bound = new Map<unknown, EventListener>()
  const address = () => accountOf(memory, memory.selected).address.toLowerCase()
  const accounts = () => (memory.isConnected ? [address()] : [])
  const chainId = () => `0x${memory.chainId.toString(16)}`
  const tell = (type: string, detail: unknown) =>
    events.dispatchEvent(new CustomEvent(type, { detail }))
  const change = (changes: Partial<typeof memory>): void => {
    const before = [address(), memory.chainId]
    Object.assign(memory, changes)
    keepMemory(memory)
    if (memory.chainId !== before[1]) tell('chainChanged', chainId())
    if (address() !== before[0]) tell('accountsChanged', accounts())
  }

  const funded = visitFaucet(accountOf(memory, 'everyday').address).catch(
    () => undefined,
  )
  const connect = async (): Promise<void> => {
    const { account, chainId } = await askUser({ ask: 'connect' })
    await funded
    change({ isConnected: true, selected: account, chainId })
  }
  const sign = async ([signer, text]: readonly unknown[]): Promise<string> => {
    if (!accounts().includes(String(signer).toLowerCase()))
      throw new WalletFault(4100, 'This account is not connected.')
    const typedData = typeof text === 'string' ? JSON.parse(text) : text
    const request = await readSigningRequest(typedData)
    await askUser({ ask: 'sign', request })
    const signature = await accountOf(memory, memory.selected).signTypedData(
      typedData,
    )
    if (request.kind === 'payment') {
      const { to, amount, symbol, until, nonce } = request
      const signed = {
        ...memory.signed,
        [nonce]: { to, amount, symbol, until },
      }
      change({ signed })
    }
    return signature
  }
  const handlers: Record<string, Handler> = {
    eth_accounts: accounts,
    eth_chainId: chainId,
    net_version: () => String(memory.chainId),
    eth_requestAccounts: async () => {
      if (!memory.isConnected) await connect()
      return accounts()
    },
    wallet_requestPermissions: async () => {
      await connect()
      return [{ parentCapability: 'eth_accounts' }]
    },
    wallet_switchEthereumChain: async ([wanted]) => {
      const chainId = Number(Object(wanted).chainId)
      if (chainId === memory.chainId) return null
      if (!networks.some((network) => network.chainId === chainId))
        throw new WalletFault(4902, 'This wallet does not know the chain.')
      await askUser({ ask: 'switch', chainId })
      change({ chainId })
      return null
    },
    eth_signTypedData_v4: sign,
  }

  mount(<WalletDialogs memory={memory} funded={funded} />)
  return {
    request: async ({ method, params = [] }: RequestArguments) => {
      const handle = handlers[method]
      return handle ? handle(params as unknown[]) : callNode(method, params)
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

async function callNode(method: string, params: unknown): Promise<unknown> {
  const { result, error } = await askJson<{
    result?: unknown
    error?: { code: number; message: string }
  }>('/rpc', {
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  if (error) throw new WalletFault(error.code, error.message)
  return result
}

function mount(dialogs: React.ReactNode): void {
  const element = document.createElement('div')
  document.body.append(element)
  createRoot(element).render(dialogs)
}
