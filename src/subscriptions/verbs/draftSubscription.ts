import type { Address, Hex } from 'viem'
import { getTokenAndHead } from '../../chain/state/getToken.js'
import { parseAmount } from '../../core/amount.js'
import { canonicalJson } from '../../core/canonicalJson.js'
import { checkMembers } from '../../core/checkMembers.js'
import { drawNonce } from '../../core/drawNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseNewId } from '../../core/testOrders.js'
import {
  checkHead,
  chooseDestination,
  insertDraft,
} from '../../orders/engine.js'
import { OrdersSetupError } from '../../orders/index.js'
import { parseMetadata } from '../../store/parseMetadata.js'
import type { StoreWriter } from '../../store/types.js'
import { writeNew } from '../../store/writeAgain.js'
import { buildSpendPermission } from '../permission/buildSpendPermission.js'
import type { SpendPermission } from '../permission/types.js'
import {
  planPermission,
  planSubscription,
  type SubscriptionFacts,
} from '../schedule/orderRow.js'
import {
  type Subscription,
  showSubscription,
} from '../schedule/showSubscription.js'
import { loadSubscriptions, type SubscriptionsContext } from './context.js'

/** Parameters of `draft`. */
export type DraftSubscriptionParameters = {
  /** Your id for the subscription, up to 63 characters. @default a random id */
  subscriptionId?: string | undefined
  /** The payer's smart wallet. */
  account: Address
  /**
   * Amount that the schedule charges each period: a decimal such as `'9.99'`,
   * in whole tokens. @default none: no schedule, you call `charge` yourself
   */
  amount?: string | undefined
  /**
   * Most that one period may cost, a decimal in whole tokens. With the default,
   * the contract itself allows only one full charge in each period. @default
   * `amount`
   */
  allowance?: string | undefined
  /** Seconds of one period. */
  period: bigint
  /**
   * Unix seconds at which the first period begins. @default the time of the
   * newest block
   */
  start?: bigint | undefined
  /**
   * Unix seconds at which the permission ends; it is not valid in that second.
   * @default the end of `periods`, or else no end
   */
  end?: bigint | undefined
  /** How many periods the permission lasts, instead of `end`. */
  periods?: number | undefined
  /** Chain on which to charge. @default the only one configured */
  chainId?: number | undefined
  /** Token to charge. @default the only one configured */
  token?: Address | undefined
  /**
   * Your account, which charges and receives the tokens. @default the only one
   * configured
   */
  recipient?: Address | undefined
  /**
   * Address of the manager contract. @default the address that Base publishes
   */
  manager?: Address | undefined
  /** Your own data in the signed message. @default none */
  extraData?: Hex | undefined
  /** Plain JSON to keep with the subscription, up to 8 kB. */
  metadata?: Readonly<Record<string, unknown>> | undefined
}

/** A new subscription, with the permission for its payer to sign. */
export type DraftedSubscription = {
  subscription: Subscription
  permission: SpendPermission
}

/** Implements `draft` of `Subscriptions`. */
export async function draftSubscription(
  subscriptions: SubscriptionsContext,
  parameters: DraftSubscriptionParameters,
): Promise<DraftedSubscription> {
  checkMembers(parameters, [
    'subscriptionId',
    'account',
    'amount',
    'allowance',
    'period',
    'start',
    'end',
    'periods',
    'chainId',
    'token',
    'recipient',
    'manager',
    'extraData',
    'metadata',
  ])
  const { context } = subscriptions
  const terms = await getFacts(subscriptions, parameters)
  return writeNew(context, (tables) => writeDraft(subscriptions, tables, terms))
}

type Terms = {
  facts: SubscriptionFacts
  price: bigint | undefined
  given: Pick<DraftSubscriptionParameters, 'start' | 'periods'>
}

async function getFacts(
  { context }: SubscriptionsContext,
  parameters: DraftSubscriptionParameters,
): Promise<Terms> {
  const { amount, allowance = amount } = parameters
  const subscriptionId = parseSubscriptionId(
    parameters.subscriptionId ?? drawNonce().slice(2, 34),
  )
  if (allowance === undefined)
    throw new InvalidFieldError(
      'amount',
      shown(amount),
      "a decimal such as '9.99', or left out with an allowance",
    )
  const metadata = parseMetadata(parameters.metadata)
  const {
    client,
    recipient: spender,
    ...chosen
  } = chooseDestination(context, {
    ...parameters,
    primaryType: 'ReceiveWithAuthorization',
  })
  checkWallet(context, { chainId: chosen.chainId, spender })
  const { token, head } = await getTokenAndHead(client, chosen.token)
  const time = checkHead(context, chosen, head)
  const { decimals, domain } = token
  const price = amount === undefined ? undefined : parseAmount(amount, decimals)
  const { account, period, start, end, periods, manager, extraData } =
    parameters
  const permission = buildSpendPermission({
    ...chosen,
    account,
    spender,
    allowance,
    decimals,
    period,
    start,
    end,
    periods,
    manager,
    extraData,
    now: time,
  })
  if (price !== undefined && price > permission.message.allowance)
    throw new InvalidFieldError(
      'amount',
      shown(amount),
      `at most allowance, which is ${allowance}`,
    )
  return {
    price,
    given: { start, periods },
    facts: {
      subscriptionId,
      permission,
      decimals,
      tokenName: domain.name,
      tokenVersion: domain.version,
      metadata,
      createdAt: time,
    },
  }
}

/**
 * Checks that the recipient charges with its own local account: the submitter
 * must choose the account nonce of each charge, and a capture key cannot charge.
 *
 * @throws {@link OrdersSetupError} when it does not.
 */
function checkWallet(
  { wallets }: SubscriptionsContext['context'],
  { chainId, spender }: { chainId: number; spender: Address },
): void {
  const own = wallets.find(
    ({ submitter }) =>
      submitter.chainId === chainId && submitter.account === spender,
  )
  if (!own)
    throw new OrdersSetupError(
      `cannot charge for ${spender} with a capture key: add its own wallet`,
      { chainId, account: spender },
    )
  if (own.account.type !== 'local')
    throw new OrdersSetupError(
      `cannot charge with the wallet of ${spender}, which sends by itself: use a local account`,
      { chainId, account: spender },
    )
}

/**
 * Most characters of an id. Shorter than the limit for orders, because the id
 * of a charge's order contains both this id and that of the charge.
 */
const longestId = 63

/**
 * Checks the id of a subscription or a charge.
 *
 * @throws {@link InvalidFieldError} when it is longer than 63 characters, not
 * valid as an order id, or the id of a test order.
 */
export function parseSubscriptionId(
  value: unknown,
  field = 'subscriptionId',
): string {
  const id = parseNewId(value, field)
  if (id.length <= longestId) return id
  throw new InvalidFieldError(
    field,
    shown(value),
    `text of 1 to ${longestId} characters`,
  )
}

async function writeDraft(
  subscriptions: SubscriptionsContext,
  tables: StoreWriter,
  terms: Terms,
): Promise<DraftedSubscription> {
  const { context } = subscriptions
  const { facts, price } = terms
  const { subscriptionId } = facts
  const planned = planPermission(facts)
  const row = planSubscription(facts, price)
  const [known] = await tables.orders.find({ ids: [subscriptionId] })
  if (known) return redraft(subscriptions, tables, terms)
  const held = await insertDraft(context, tables, planned)
  await tables.subscriptions.insert([row])
  const { version, position } = held.order
  return {
    permission: facts.permission,
    subscription: showSubscription({
      row: { ...row, version, position },
      held,
    }),
  }
}

/**
 * Repeats a call with a known id: if the terms are equal, returns the
 * permission of the first call.
 */
async function redraft(
  { context }: SubscriptionsContext,
  tables: StoreWriter,
  { facts, price, given }: Terms,
): Promise<DraftedSubscription> {
  const { subscriptionId } = facts
  const [found] = await loadSubscriptions(tables, context, [subscriptionId])
  const subscription = found && showSubscription(found)
  const isSame =
    found &&
    subscription?.state === 'drafted' &&
    contentsOf(subscription.permission, found.row.price) ===
      contentsOf(
        moveStart(facts.permission, { given, to: subscription.permission }),
        price,
      )
  if (!isSame)
    throw new InvalidFieldError(
      'subscriptionId',
      shown(subscriptionId),
      'an id that no other subscription or order has',
    )
  return { permission: subscription.permission, subscription }
}

/** If a repeated call has no `start`, takes the `start` of the first call. */
function moveStart(
  permission: SpendPermission,
  { given, to }: { given: Terms['given']; to: SpendPermission },
): SpendPermission {
  if (given.start !== undefined) return permission
  const { message } = permission
  const { start } = to.message
  const end =
    given.periods === undefined
      ? message.end
      : start + BigInt(given.periods) * message.period
  return { ...permission, message: { ...message, start, end } }
}

/** Returns the terms that a repeated call with the same id must not change. */
function contentsOf(
  { domain, message }: SpendPermission,
  price: bigint | undefined,
): string {
  const { account, spender, token, allowance, extraData } = message
  const { period, start, end } = message
  return canonicalJson({
    accounts: [domain.chainId, domain.verifyingContract, account, spender],
    amounts: [token, String(allowance), String(price)],
    times: [period, start, end].map(String),
    extraData,
  })
}
