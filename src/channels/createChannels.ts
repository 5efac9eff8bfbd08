import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import { parseBytes32 } from '../core/fields.js'
import { contextOf, watchVerb } from '../orders/engine.js'
import { type Orders, OrdersSetupError } from '../orders/index.js'
import type { Channels } from './Channels.js'
import { keepChannelsContext } from './channelsContextOf.js'
import { channelKindName } from './movements/channels.js'
import { openBook } from './record/openBook.js'
import type { ChannelsPolicy } from './record/types.js'
import { auditChannels } from './verbs/auditChannels.js'
import { claimChannels } from './verbs/claimChannels.js'
import type { ChannelsContext } from './verbs/context.js'
import { getChannelsHealth } from './verbs/getChannelsHealth.js'
import { getStatement } from './verbs/getStatement.js'
import { getChannelOnRecord, listChannels } from './verbs/listChannels.js'
import { refundChannel } from './verbs/refundChannel.js'
import { rotateKey } from './verbs/rotateKey.js'
import { runChannels } from './verbs/runChannels.js'
import { resumeChannel, stopChannel } from './verbs/stopChannel.js'
import type { RecoverSigner } from './vouchers/checkVoucher.js'

/** Parameters of {@link createChannels}. */
export type CreateChannelsParameters = {
  /** Orders from `createOrders` with `channels()` in its `kinds`. */
  orders: Orders
  /** @default claims after a day, without limits; see {@link ChannelsPolicy} */
  policy?: Partial<ChannelsPolicy> | undefined
  /**
   * Recovers the signer of each voucher. `countersign/accelerate` loads a fast
   * one. @default viem's
   */
  recoverAddress?: RecoverSigner | undefined
}

/**
 * Keeps payment channels of x402's scheme `batch-settlement`: the payer deposits
 * once and signs a voucher for each request, the merchant claims later. Pass the
 * result to `createX402Gate`, and call `run` beside `orders.run`.
 *
 * You lose what is charged and not claimed if the payer announces a withdrawal
 * and no worker claims within the offer's `withdrawDelay`.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 * @throws {@link OrdersSetupError} when `orders` does not know the kind
 * `channel`.
 *
 * @example
 * ```ts
 * import { channels, createChannels } from 'countersign/channels'
 * import { type CreateOrdersParameters, createOrders } from 'countersign/orders'
 *
 * export function openChannels(parameters: CreateOrdersParameters) {
 *   const orders = createOrders({ ...parameters, kinds: [channels()] })
 *   return { orders, channels: createChannels({ orders }) }
 * }
 * ```
 */
export function createChannels(parameters: CreateChannelsParameters): Channels {
  checkMembers(parameters, ['orders', 'policy', 'recoverAddress'])
  const given: CreateChannelsParameters = Object(parameters)
  const { recoverAddress } = given
  if (recoverAddress !== undefined && typeof recoverAddress !== 'function')
    throw new InvalidFieldError(
      'recoverAddress',
      shown(recoverAddress),
      'a function',
    )
  const { context, instance } = contextOf(given.orders)
  if (!context.kinds.get(channelKindName))
    throw new OrdersSetupError(
      'have no kind for channels: pass kinds: [channels()] to createOrders',
    )
  const policy = settlePolicy(given.policy)
  const book = openBook(context, policy)
  const channels: ChannelsContext = {
    context,
    instance,
    policy,
    book,
    recoverAddress,
  }
  const perform = <result>(
    name: string,
    work: () => Promise<result>,
    open = instance.openSealed,
  ): Promise<result> =>
    watchVerb(context, `channels.${name}`, async () => {
      await open()
      return work()
    })
  // Reads nothing that is sealed.
  const show = <result>(
    name: string,
    work: () => Promise<result>,
  ): Promise<result> => perform(name, work, instance.open)
  const made: Channels = {
    get: (given) => show('get', () => getChannelOnRecord(channels, given)),
    list: (given = {}) => show('list', () => listChannels(channels, given)),
    claim: (given = {}) =>
      perform('claim', () => claimChannels(channels, given)),
    refund: (given) =>
      perform('refund', () => {
        const id = parseBytes32(Object(given).channelId, 'channelId')
        return book.inTurn(id, () => refundChannel(channels, given))
      }),
    stop: (given) => perform('stop', () => stopChannel(channels, given)),
    resume: (given) => perform('resume', () => resumeChannel(channels, given)),
    statement: (given) =>
      show('statement', () => getStatement(channels, given)),
    audit: (given = {}) => show('audit', () => auditChannels(channels, given)),
    rotateKey: (given = {}) =>
      perform('rotateKey', () => rotateKey(channels, given)),
    health: () => show('health', () => getChannelsHealth(channels)),
    run: (given) =>
      watchVerb(context, 'channels.run', () =>
        instance.hold(runChannels(channels, given)),
      ),
  }
  return keepChannelsContext(made, channels)
}

const usual: ChannelsPolicy = {
  claimAfter: 86_400n,
  claimAt: undefined,
  mostUnclaimed: undefined,
  copyFor: 60n,
}

/** A third of the shortest delay of a withdrawal, in seconds. */
const longestCopy = 300n

function settlePolicy(
  given: Partial<ChannelsPolicy> | undefined = {},
): ChannelsPolicy {
  const members = ['claimAfter', 'claimAt', 'mostUnclaimed', 'copyFor'] as const
  checkMembers(given, members, 'policy')
  const settled = { ...usual }
  for (const name of members) {
    const value: unknown = Object(given)[name]
    if (value === undefined) continue
    if (typeof value !== 'bigint' || value < 0n)
      throw new InvalidFieldError(
        `policy.${name}`,
        shown(value),
        'a bigint of 0 or more',
      )
    if (name === 'copyFor' && value > longestCopy)
      throw new InvalidFieldError(
        'policy.copyFor',
        shown(value),
        `at most ${longestCopy} seconds`,
      )
    settled[name] = value
  }
  return settled
}
