import { createCaptureKey } from 'countersign/batches'
import type { CaptureWallet, CreateOrdersParameters } from 'countersign/orders'
import type { Hash } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { getTransactionCount } from 'viem/actions'
import { onTestFinished } from 'vitest'
import { chain, openAccount, reader, walletOf } from './batchDesk.js'
import { openTreasury } from './captureKeyDesk.js'
import { openShop, type Shop, storedOrder } from './shop.js'

export type Treasury = Awaited<ReturnType<typeof openTreasury>>
export type Key = { wallet: CaptureWallet; account: PrivateKeyAccount }

/** A treasury with as many keys, each with its own permission. `validBefore` ends the first. */
export async function openKeys(
  count: number,
  validBefore?: bigint | undefined,
): Promise<{ treasury: Treasury; keys: Key[] }> {
  const treasury = await openTreasury()
  const keys: Key[] = []
  for (let at = 0; at < count; at++) {
    const account = await openAccount()
    const { permission } = await createCaptureKey(treasury.wallet, {
      key: account.address,
      tokens: [chain.token],
      validBefore: at === 0 ? validBefore : undefined,
    })
    const capturesFor = treasury.treasury.address
    const wallet = { client: walletOf(account), capturesFor, permission }
    keys.push({ wallet, account })
  }
  return { treasury, keys }
}

export const sell = (
  wallets: CreateOrdersParameters['wallets'],
  more: NonNullable<Parameters<typeof openShop>[1]> = {},
) =>
  openShop(chain, {
    wallets,
    policy: { pollingInterval: 40, quietInterval: 40 },
    ...more,
  })

export async function store(
  shop: Shop,
  count: number,
  primaryType?: 'TransferWithAuthorization',
): Promise<string[]> {
  const ids: string[] = []
  for (let at = 0; at < count; at++)
    ids.push((await storedOrder(chain, shop, { primaryType })).id)
  return ids
}

/** Captures orders; resolves to their states. */
export async function captureAll(
  { orders }: Shop,
  ids: readonly string[],
  timeout = 60_000,
): Promise<string[]> {
  const results = await Promise.all(
    ids.map((orderId) => orders.capture({ orderId, timeout })),
  )
  return results.map(({ status }) => status)
}

export const hashOf = async (
  { orders }: Shop,
  orderId: string,
): Promise<Hash> => {
  const result = await orders.capture({ orderId })
  if (result.status !== 'captured') throw new Error('not captured')
  return result.proof.transactionHash
}

/** A worker, until the test is over. */
export function work({ orders }: Shop): void {
  const ending = new AbortController()
  const running = orders.run({ signal: ending.signal })
  running.catch(() => undefined)
  onTestFinished(async () => {
    ending.abort()
    await running.catch(() => undefined)
  })
}

export async function renew({ wallet }: Treasury, { account, ...key }: Key) {
  const given = { key: account.address, tokens: [chain.token] }
  const { permission } = await createCaptureKey(wallet, given)
  return { account, wallet: { ...key.wallet, permission } }
}

export const countOf = async (keys: readonly Key[]): Promise<number> => {
  const [key] = keys
  return getTransactionCount(reader, { address: key?.account.address ?? '0x' })
}

export const countPending = async (keys: readonly Key[]): Promise<number> => {
  const address = keys[0]?.account.address ?? '0x'
  return getTransactionCount(reader, { address, blockTag: 'pending' })
}
