import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { developmentChainId } from '../api/chain.js'

export type AccountName = 'everyday' | 'empty'

/** What was signed, so that the wallet can say what a cancellation ends. */
type SignedRecord = {
  to: string
  amount: string
  symbol: string
  isCeiling: boolean
  /** Unix seconds. */
  until: number
}

/** All the wallet knows; gone with the tab. */
export type WalletMemory = {
  keys: Record<AccountName, Hex>
  selected: AccountName
  chainId: number
  isConnected: boolean
  /** By nonce. */
  signed: Record<string, SignedRecord>
}

const key = 'development-wallet'

export function openMemory(): WalletMemory {
  try {
    return JSON.parse(sessionStorage.getItem(key) ?? '') as WalletMemory
  } catch {
    return {
      keys: { everyday: generatePrivateKey(), empty: generatePrivateKey() },
      selected: 'everyday',
      chainId: developmentChainId,
      isConnected: false,
      signed: {},
    }
  }
}

export function keepMemory(memory: WalletMemory): void {
  sessionStorage.setItem(key, JSON.stringify(memory))
}

export function accountOf(
  { keys }: WalletMemory,
  name: AccountName,
): ReturnType<typeof privateKeyToAccount> {
  return privateKeyToAccount(keys[name])
}
