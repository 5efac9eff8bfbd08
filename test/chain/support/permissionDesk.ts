import type { DevChain } from 'countersign/devchain'
import {
  buildSpendPermission,
  type SignedSpendPermission,
  type SpendPermission,
  type SpendPermissionExpectation,
  spendPermissionTypedData,
} from 'countersign/subscriptions'
import type { Address, Hex } from 'viem'
import { type BaseAccount, createBaseAccount } from './baseAccount.js'

export type Subscriber = SignedSpendPermission & {
  account: BaseAccount
  /** What the merchant expects of this permission. */
  expect: SpendPermissionExpectation
}

export type SubscriberFields = {
  deployed?: boolean
  /** Token units in the wallet. Default: 100 USDC. */
  funds?: bigint
  owners?: readonly Address[]
  period?: bigint
  periods?: number
  start?: bigint
  allowance?: string
}

/** Seconds of the newest block. */
export const chainTime = async (chain: DevChain): Promise<bigint> =>
  (await chain.clients.public.getBlock()).timestamp

/** A funded wallet of Base Account that signed a permission. */
export async function createSubscriber(
  chain: DevChain,
  spender: Address,
  {
    deployed = true,
    funds = 100_000_000n,
    owners,
    period = 1000n,
    periods = 12,
    start,
    allowance = '10',
  }: SubscriberFields = {},
): Promise<Subscriber> {
  const account = await createBaseAccount(chain, owners)
  if (deployed) await account.deploy()
  if (funds) await chain.mint({ to: account.address, value: funds })
  const permission = buildSpendPermission({
    chainId: chain.chain.id,
    account: account.address,
    spender,
    token: chain.token,
    allowance,
    period,
    periods,
    start: start ?? (await chainTime(chain)),
  })
  const expect = { spender, token: chain.token, allowance, period }
  return {
    account,
    permission,
    signature: await signAs(account, permission),
    expect,
  }
}

/** Signs with the wallet's own key, as its page would. */
export function signAs(
  account: BaseAccount,
  permission: SpendPermission,
): Promise<Hex> {
  return account.wallet.signTypedData(spendPermissionTypedData(permission))
}
