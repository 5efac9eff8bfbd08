import { readFileSync } from 'node:fs'
import process from 'node:process'
import type { Address, Chain, Hex } from 'viem'

/** All that each process of the shop knows. */
export type Shop = {
  chain: Chain
  /** Of the node. */
  url: string
  token: Address
  /** Addresses of the database, through PgBouncer and past it. */
  pooled: string
  direct: string
  isSynchronous: boolean
  walletKey: Hex
  sealKey: Hex
  /** What a caller sends as `Authorization: Bearer …`. */
  merchantKey: string
}

/** Reads the file that the variable `SHOP` names: only its owner may read it. */
export function readShop(): Shop {
  const { SHOP: file } = process.env
  if (!file) throw new Error('SHOP names no file')
  return JSON.parse(readFileSync(file, 'utf8'))
}
