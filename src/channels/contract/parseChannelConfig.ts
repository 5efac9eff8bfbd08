import type { Address } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseAddress, parseBytes32 } from '../../core/fields.js'
import { parseObject } from './parseValues.js'
import type { ChannelConfig } from './types.js'

/** Bounds of `withdrawDelay` in the contract: 15 minutes and 30 days. */
const shortestDelay = 900
const longestDelay = 2_592_000

const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

const members: MembersOf<ChannelConfig> = {
  payer: true,
  payerAuthorizer: true,
  receiver: true,
  receiverAuthorizer: true,
  token: true,
  withdrawDelay: true,
  salt: true,
}

/**
 * Parses the terms of a channel that the contract would take. Addresses and
 * salt become lower case; the checksum of an address is not checked.
 *
 * Accepts the zero address as `payerAuthorizer`, as the contract does. Refuse
 * it if you take vouchers: a contract wallet that signed can deny it later.
 *
 * @throws {@link InvalidFieldError} that names the first member that is missing,
 * malformed, unknown, or out of the contract's bounds.
 *
 * @example
 * ```ts
 * import { parseChannelConfig } from 'countersign/channels'
 *
 * export const termsOf = (payload: { channelConfig: unknown }) =>
 *   parseChannelConfig(payload.channelConfig, 'channelConfig')
 * ```
 */
export function parseChannelConfig(
  value: unknown,
  field = 'config',
): ChannelConfig {
  const given = parseObject(value, field)
  checkMembers<object>(given, members, field)
  return {
    payer: parseNonZero(given.payer, `${field}.payer`),
    payerAuthorizer: parseAddress(
      given.payerAuthorizer,
      `${field}.payerAuthorizer`,
    ),
    receiver: parseNonZero(given.receiver, `${field}.receiver`),
    receiverAuthorizer: parseNonZero(
      given.receiverAuthorizer,
      `${field}.receiverAuthorizer`,
    ),
    token: parseNonZero(given.token, `${field}.token`),
    withdrawDelay: parseDelay(given.withdrawDelay, `${field}.withdrawDelay`),
    salt: parseBytes32(given.salt, `${field}.salt`),
  }
}

function parseNonZero(value: unknown, field: string): Address {
  const address = parseAddress(value, field)
  if (address !== zeroAddress) return address
  throw new InvalidFieldError(field, shown(value), 'not the zero address')
}

function parseDelay(value: unknown, field: string): number {
  if (
    typeof value === 'number' &&
    Number.isInteger(value) &&
    value >= shortestDelay &&
    value <= longestDelay
  )
    return value
  throw new InvalidFieldError(
    field,
    shown(value),
    `an integer of seconds from ${shortestDelay} to ${longestDelay}`,
  )
}
