import type { Address } from 'viem'
import { checkLimit } from '../../core/checkLimit.js'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { grantOf } from '../../core/grantOf.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { contextOf, parseAnswerAt } from '../../orders/engine.js'
import { checkChannels } from '../gate/channelDesk.js'
import type {
  ChannelScheme,
  FacilitatorContext,
  LoadChannelScheme,
  SettledCaller,
} from './facilitatorContext.js'
import {
  callerMembers,
  type FacilitatorCaller,
  type FacilitatorParameters,
} from './types.js'

/**
 * Longest timer in milliseconds: the largest signed 32-bit number. Node fires a
 * longer one at once.
 */
const longest = 2_147_483_647

/**
 * Checks the parameters of a facilitator, and fills in defaults.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseFacilitator(
  parameters: FacilitatorParameters,
  load: LoadChannelScheme,
): FacilitatorContext {
  checkMembers(parameters, [
    'orders',
    'channels',
    'authorize',
    'basePath',
    'payTo',
    'assets',
    'contractPayers',
    'timeout',
    'answerAt',
    'preconfirmedUpTo',
  ])
  const { orders, authorize, basePath = '' } = parameters
  const { contractPayers = 'refuse', timeout = 30_000, channels } = parameters
  const { context, instance } = contextOf(orders)
  if (channels !== undefined) checkChannels(channels, context)
  if (typeof authorize !== 'function')
    throw new InvalidFieldError('authorize', authorize, 'a function')
  if (typeof basePath !== 'string' || !/^(\/[^/?#]+)*$/.test(basePath))
    throw new InvalidFieldError(
      'basePath',
      shown(basePath),
      'empty, or a path such as /facilitator',
    )
  if (contractPayers !== 'accept' && contractPayers !== 'refuse')
    throw new InvalidFieldError('contractPayers', shown(contractPayers), [
      'accept',
      'refuse',
    ])
  if (typeof timeout !== 'number' || !(timeout >= 0 && timeout <= longest))
    throw new InvalidFieldError(
      'timeout',
      shown(timeout),
      `milliseconds from 0 to ${longest}`,
    )
  // If the policy of the orders refuses contract wallets, `contractPayers:
  // 'accept'` has no effect here: the capture would be refused.
  const refuses = context.policy.contractPayers === 'refuse'
  const payTo =
    parameters.payTo === undefined
      ? undefined
      : parseSome(parameters.payTo, 'payTo', context.recipients)
  const assets = context.tokens.map(({ token }) => token)
  let loading: Promise<ChannelScheme> | undefined
  const facilitator: FacilitatorContext = {
    orders,
    context,
    instance,
    authorize,
    basePath,
    contractPayers: refuses ? 'refuse' : contractPayers,
    timeout,
    preconfirmedUpTo: parseAnswerAt(parameters, context.policy),
    get payTo() {
      return payTo ?? context.recipients
    },
    assets: parseSome(parameters.assets, 'assets', assets),
    loadChannels:
      channels &&
      (() => {
        loading ??= load(facilitator, channels).catch((error: unknown) => {
          loading = undefined
          throw error
        })
        return loading
      }),
  }
  return facilitator
}

/**
 * Checks a caller that `authorize` returned. Returns `undefined` if `authorize`
 * returned none.
 *
 * @throws {@link InvalidFieldError}
 */
export function parseCaller(
  facilitator: Pick<FacilitatorContext, 'payTo' | 'assets'>,
  given: FacilitatorCaller | undefined,
): SettledCaller | undefined {
  const caller = grantOf(given, callerMembers, 'caller')
  if (!caller) return undefined
  const { name, gasPerDay, deduplicates = false } = caller
  // The length is limited because each order stores the caller's name.
  if (typeof name !== 'string' || !/^[\x20-\x7e]{1,128}$/.test(name))
    throw new InvalidFieldError(
      'caller.name',
      shown(name),
      'text of 1 to 128 ASCII characters',
    )
  if (
    gasPerDay !== undefined &&
    (typeof gasPerDay !== 'bigint' || gasPerDay < 0n)
  )
    throw new InvalidFieldError(
      'caller.gasPerDay',
      shown(gasPerDay),
      'a bigint from 0',
    )
  if (typeof deduplicates !== 'boolean')
    throw new InvalidFieldError(
      'caller.deduplicates',
      shown(deduplicates),
      'true or false',
    )
  if (caller.mostAtRisk !== undefined)
    checkLimit('caller.mostAtRisk', caller.mostAtRisk)
  return {
    name,
    gasPerDay,
    deduplicates,
    mostAtRisk: caller.mostAtRisk,
    payTo: parseSome(caller.payTo, 'caller.payTo', facilitator.payTo),
    assets: parseSome(caller.assets, 'caller.assets', facilitator.assets),
  }
}

/** Returns the given subset of the known values; all of them by default. */
function parseSome(
  given: readonly Address[] | undefined,
  field: string,
  known: readonly Address[],
): readonly Address[] {
  if (given === undefined) return known
  if (!Array.isArray(given))
    throw new InvalidFieldError(field, shown(given), 'a list of addresses')
  return given.map((one, index) => {
    const address = parseCheckedAddress(one, `${field}[${index}]`)
    if (known.includes(address)) return address
    throw new InvalidFieldError(`${field}[${index}]`, shown(address), known)
  })
}
