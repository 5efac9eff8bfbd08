import type { X402Channel } from './types.js'

const digits = /^\d+$/
const bytes32 = /^0x[\da-f]{64}$/i

const isAmount = (value: unknown) =>
  typeof value === 'string' && digits.test(value)
const isNumber = (value: unknown) =>
  typeof value === 'number' && Number.isSafeInteger(value)
const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const isText = (value: unknown) => typeof value === 'string'
const isOptional = (check: (value: unknown) => boolean) => (value: unknown) =>
  value === undefined || check(value)

/** What a member must be, in words for an error. */
type Rule = { rule: string; check: (value: unknown) => boolean }

const amount: Rule = { rule: 'a text of digits', check: isAmount }
const integer: Rule = { rule: 'an integer', check: isNumber }

const rules: { readonly [name in keyof X402Channel]-?: Rule } = {
  channelId: { rule: '32 bytes in hexadecimal', check: isChannelId },
  channelConfig: { rule: 'an object', check: isObject },
  chargedCumulativeAmount: amount,
  signedMaxClaimable: amount,
  signature: { rule: 'text', check: isText },
  balance: amount,
  totalClaimed: amount,
  withdrawRequestedAt: integer,
  refundNonce: integer,
  onchainSyncedAt: {
    rule: 'an integer',
    check: /* @__PURE__ */ isOptional(isNumber),
  },
  lastRequestTimestamp: integer,
  pendingRequest: {
    rule: 'an object',
    check: /* @__PURE__ */ isOptional(isObject),
  },
}

export function isChannelId(value: unknown): value is string {
  return typeof value === 'string' && bytes32.test(value)
}

/** A member that does not have its form, and the form. */
export type WrongMember = { name: string; rule: string }

/**
 * Returns the first member of a channel that is missing or malformed;
 * `undefined` if there is none.
 *
 * @param id the id that the channel must have, in lower case.
 */
export function findWrongMember(
  value: unknown,
  id: string,
): WrongMember | undefined {
  const given = Object(value)
  for (const [name, { rule, check }] of Object.entries(rules))
    if (!check(given[name])) return { name, rule }
  return given.channelId.toLowerCase() === id
    ? undefined
    : { name: 'channelId', rule: 'the id of this channel' }
}

/** True when the channel has the form of the stock server's record. */
export function isChannelOf(value: unknown, id: string): value is X402Channel {
  return findWrongMember(value, id) === undefined
}
