import type { Hex } from 'viem'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseAddress, parsePositiveInteger } from '../../core/fields.js'
import type { TokenDomain } from '../../core/types.js'
import type { SpendPermission, SpendPermissionMessage } from './types.js'

/** Name and version in the manager's EIP-712 domain. */
export const managerName = 'Spend Permission Manager'
export const managerVersion = '1'

const members: MembersOf<SpendPermission> = {
  primaryType: true,
  domain: true,
  message: true,
}

const domainMembers: MembersOf<TokenDomain> = {
  name: true,
  version: true,
  chainId: true,
  verifyingContract: true,
}

const messageMembers: MembersOf<SpendPermissionMessage> = {
  account: true,
  spender: true,
  token: true,
  allowance: true,
  period: true,
  start: true,
  end: true,
  salt: true,
  extraData: true,
}

/**
 * Parses a permission that the manager could approve. Addresses become lower
 * case.
 *
 * @throws {@link InvalidFieldError} that names the first malformed member.
 */
export function parseSpendPermission(
  value: unknown,
  field = 'permission',
): SpendPermission {
  const given = parseObject(value, field)
  checkMembers<object>(given, members, field)
  if (given.primaryType !== 'SpendPermission')
    throw new InvalidFieldError(
      `${field}.primaryType`,
      shown(given.primaryType),
      'SpendPermission',
    )
  return {
    primaryType: 'SpendPermission',
    domain: parseDomain(given.domain, `${field}.domain`),
    message: parseMessage(given.message, `${field}.message`),
  }
}

function parseDomain(value: unknown, field: string): TokenDomain {
  const given = parseObject(value, field)
  checkMembers<object>(given, domainMembers, field)
  const fixed = { name: managerName, version: managerVersion }
  for (const [name, text] of Object.entries(fixed))
    if (given[name] !== text)
      throw new InvalidFieldError(`${field}.${name}`, shown(given[name]), text)
  return {
    name: managerName,
    version: managerVersion,
    chainId: parsePositiveInteger(given.chainId, `${field}.chainId`),
    verifyingContract: parseAddress(
      given.verifyingContract,
      `${field}.verifyingContract`,
    ),
  }
}

function parseMessage(value: unknown, field: string): SpendPermissionMessage {
  const given = parseObject(value, field)
  checkMembers<object>(given, messageMembers, field)
  const address = (name: 'account' | 'spender' | 'token') =>
    parseAddress(given[name], `${field}.${name}`)
  const number = (name: string, bits: bigint, least: bigint) =>
    parseNumber(given[name], `${field}.${name}`, { bits, least })
  const message = {
    account: address('account'),
    spender: address('spender'),
    token: address('token'),
    allowance: number('allowance', 160n, 1n),
    period: number('period', 48n, 1n),
    start: number('start', 48n, 0n),
    end: number('end', 48n, 1n),
    salt: number('salt', 256n, 0n),
    extraData: parseData(given.extraData, `${field}.extraData`),
  }
  if (message.end > message.start) return message
  throw new InvalidFieldError(
    `${field}.end`,
    shown(message.end),
    `after start, which is ${message.start}`,
  )
}

function parseObject(value: unknown, field: string): Record<string, unknown> {
  if (typeof value === 'object' && value && !Array.isArray(value))
    return { ...value }
  throw new InvalidFieldError(field, value, 'an object')
}

function parseNumber(
  value: unknown,
  field: string,
  { bits, least }: { bits: bigint; least: bigint },
): bigint {
  if (typeof value === 'bigint' && value >= least && !(value >> bits))
    return value
  throw new InvalidFieldError(
    field,
    shown(value),
    `a bigint from ${least} to 2^${bits} - 1`,
  )
}

/** At most 1024 bytes: longer data would make each charge expensive. */
const dataForm = /^0x([\da-f]{2}){0,1024}$/i

function parseData(value: unknown, field: string): Hex {
  if (typeof value === 'string' && dataForm.test(value))
    return `0x${value.slice(2).toLowerCase()}`
  throw new InvalidFieldError(field, shown(value), 'at most 1024 bytes in hex')
}
