import process from 'node:process'
import type { Address, Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil, base, baseSepolia } from 'viem/chains'
import { needSecret, readSecret } from './readSecret.js'

/** Returns a setting that is no secret. */
function needSetting(name: string): string {
  const value = process.env[name]
  if (!value) throw new Error(`Set ${name}.`)
  return value
}

const chainId = Number(needSetting('CHAIN_ID'))

function findChain() {
  const found = [base, baseSepolia, anvil].find(({ id }) => id === chainId)
  if (!found) throw new Error(`CHAIN_ID: ${chainId} is not in settings.ts.`)
  return found
}

export const chain = findChain()
export const token = needSetting('TOKEN') as Address
export const merchant = needSetting('MERCHANT') as Address

/** The address of a node often contains a key. */
export const nodeUrl = needSecret('node-url')

/** Only the worker gets the merchant's key: a web process sends nothing. */
const key = readSecret('merchant-key')
export const account = key ? privateKeyToAccount(key as Hex) : merchant

export const port = Number(process.env.PORT ?? 3000)

/** Milliseconds until the load balancer knows that a process is stopping. */
export const drain = Number(process.env.DRAIN_SECONDS ?? 10) * 1_000
