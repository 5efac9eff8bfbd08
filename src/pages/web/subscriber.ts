import type { SubscriberState } from '../../client/createSubscriberClient.js'
import { ProblemError } from '../../client/errors.js'
import { formatAmount } from '../../core/amount.js'
import { UnexpectedSpendPermissionError } from '../../subscriptions/permission/errors.js'
import { decodePermission } from '../../subscriptions/permission/permissionJson.js'
import { signSpendPermission } from '../../subscriptions/permission/signSpendPermission.js'
import { explainFailure, WrongAccount } from './failures.js'
import type { Model } from './model.js'
import type { PageFailure, PageToken } from './pageData.js'
import type { Connection } from './wallets.js'

/** Everything that the page of a subscription shows. */
export type SubscriberModel = Pick<
  Model,
  'link' | 'wallets' | 'connection' | 'task' | 'failure' | 'showsDetails'
> & {
  subscription?: SubscriberState | undefined
  /** True while the page asks whether to cancel. */
  isAsking: boolean
}

/** Where a subscription is in its time. */
export type SubscriptionTimes = {
  start: number
  /** Absent if the subscription has no end. */
  end: number | undefined
  /** Absent if the subscription has no end. */
  periods: number | undefined
  /** Unix seconds of the next charge. Absent if none comes. */
  next: number | undefined
}

/** The largest end of a permission: the contract has 48 bits for it. */
const noEnd = 2 ** 48 - 1

export function timesOf(subscription: SubscriberState): SubscriptionTimes {
  const { permission, period: charged, amount, state } = subscription
  const { message } = permission
  const [start, length] = [Number(message.start), Number(message.period)]
  const last = Number(message.end)
  const end = last === noEnd ? undefined : last
  const next = start + Number(charged) * length
  const isCharged = state === 'active' || state === 'pastDue'
  const hasNext = isCharged && amount !== undefined && next < last
  return {
    start,
    end,
    periods: end && Math.ceil((end - start) / length),
    next: hasNext ? next : undefined,
  }
}

/** True while nothing more can happen to a subscription. */
export function hasEnded({ state }: SubscriberState): boolean {
  return state === 'canceled' || state === 'ended'
}

/** True while a signed subscription can be canceled. */
export function canEnd({ state }: SubscriberState): boolean {
  return state === 'active' || state === 'pastDue' || state === 'unpaid'
}

type SignParameters = {
  connection: Connection
  /** The subscription as the page shows it: nothing else is signed. */
  subscription: SubscriberState
  token: PageToken
  signal: AbortSignal
}

/** Has the wallet sign the permission that the page shows. */
export async function signSubscription({
  connection,
  subscription,
  token,
  signal,
}: SignParameters): Promise<`0x${string}`> {
  const { wallet, account } = connection
  const { payer, recipient } = subscription
  if (payer.toLowerCase() !== account) throw new WrongAccount(payer)
  const permission = decodePermission({ ...subscription.permission })
  const { allowance, period } = permission.message
  const { signature } = await signSpendPermission(
    { request: (args) => wallet.provider.request(args), account },
    {
      permission,
      expect: {
        chainId: token.chainId,
        spender: recipient,
        token: token.token,
        allowance: formatAmount(allowance, token.decimals),
        decimals: token.decimals,
        period,
        extraData: permission.message.extraData,
      },
      signal,
    },
  )
  return signature
}

/**
 * Explains a failure. Returns `undefined` if the subscription has changed
 * meanwhile, which the page then shows.
 */
export function explainSubscriber(error: unknown): PageFailure | undefined {
  if (error instanceof UnexpectedSpendPermissionError)
    return { reason: 'unexpected', isSerious: true }
  const reason = error instanceof ProblemError ? error.reason : undefined
  if (reason === 'notOpen') return undefined
  return reason === 'permissionRejected' || reason === 'walletNotDeployed'
    ? { reason: 'unfitWallet', help: 'changeAccount' }
    : explainFailure(error)
}
