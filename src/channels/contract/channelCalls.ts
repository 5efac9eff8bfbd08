import type { Address, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import {
  InvalidFieldError,
  invalidSignature,
  shown,
} from '../../core/errors.js'
import { parseAddress, parseBytes32, parsePayment } from '../../core/fields.js'
import { tokenSignature } from '../../core/signature.js'
import type { Payment, SignedPayment } from '../../core/types.js'
import { bytesWords, word } from '../../core/words.js'
import { depositNonce } from './buildDeposit.js'
import { channelContract, depositCollector } from './channelDomain.js'
import {
  parseClaimRows,
  parseKeySignature,
  parseSignedRows,
} from './claimTypedData.js'
import { configWords, hashParsedConfig } from './hashChannelConfig.js'
import { parseChannelConfig } from './parseChannelConfig.js'
import { parseUint256, parseUnits } from './parseValues.js'
import type { ChannelCall, ChannelConfig, ClaimRow } from './types.js'

/** The first four bytes of the calls to the contract (Solidity ABI). */
const selectors = {
  deposit: '140f1e75',
  claim: '29237b0c',
  claimWithSignature: 'e43ce1f2',
  settle: '9db32a8f',
  refund: 'dce4bfae',
  refundWithSignature: 'b77433e9',
  initiateWithdraw: 'cf5cf3dc',
  finalizeWithdraw: 'e88377b1',
  multicall: 'ac9650d8',
}

function callOf(selector: string, words: string): ChannelCall {
  return { to: channelContract, data: `0x${selector}${words}` }
}

/** Parameters of {@link depositCall}. */
export type DepositCallParameters = {
  config: ChannelConfig
  /** The signed payment of `buildDeposit`. */
  payment: SignedPayment
  /** `salt` of the same deposit. */
  salt: Hex
}

/**
 * Builds the call that takes a deposit: `deposit` with the EIP-3009 collector.
 * Anyone may send it.
 *
 * @throws {@link InvalidFieldError} when a field is malformed, or the payment is
 * not a deposit into this channel with this salt.
 *
 * @example
 * ```ts
 * import { type DepositCallParameters, depositCall } from 'countersign/channels'
 *
 * export const transactionOf = (deposit: DepositCallParameters) =>
 *   depositCall(deposit)
 * ```
 */
export function depositCall(parameters: DepositCallParameters): ChannelCall {
  checkMembers(parameters, ['config', 'payment', 'salt'])
  const given: DepositCallParameters = Object(parameters)
  const config = parseChannelConfig(given.config)
  const salt = parseBytes32(given.salt, 'salt')
  const { signature: unchecked, ...unsigned } = Object(given.payment)
  const payment = parsePayment(unsigned)
  const signature = tokenSignature(unchecked)
  if (!signature)
    throw invalidSignature('payment.signature', unchecked, 'a wallet signature')
  checkDeposit(payment, config, salt)
  const { value, validAfter, validBefore } = payment.message
  const collected =
    word(validAfter) +
    word(validBefore) +
    word(salt) +
    word(4 * 32) +
    bytesWords(signature)
  return callOf(
    selectors.deposit,
    configWords(config) +
      word(value) +
      word(depositCollector) +
      word(10 * 32) +
      bytesWords(`0x${collected}`),
  )
}

function checkDeposit(
  { primaryType, domain, message }: Payment,
  config: ChannelConfig,
  salt: Hex,
): void {
  const nonce = depositNonce(hashParsedConfig(config, domain.chainId), salt)
  const checks: readonly (readonly [string, unknown, unknown])[] = [
    ['primaryType', primaryType, 'ReceiveWithAuthorization'],
    ['domain.verifyingContract', domain.verifyingContract, config.token],
    ['message.from', message.from, config.payer],
    ['message.to', message.to, depositCollector],
    ['message.nonce', message.nonce, nonce],
  ]
  for (const [name, found, expected] of checks)
    if (found !== expected)
      throw new InvalidFieldError(
        `payment.${name}`,
        shown(found),
        `${expected}, as for this channel and salt`,
      )
  parseUnits(message.value, 'payment.message.value', 1n)
}

/** Parameters of {@link claimCall}. */
export type ClaimCallParameters = {
  /** The channels to claim from. Their vouchers are signed by keys. */
  rows: readonly ClaimRow[]
}

/**
 * Builds the call that claims from channels. Only `receiver` or
 * `receiverAuthorizer` of each row may send it. One row that the contract
 * refuses reverts the whole call.
 *
 * @throws {@link InvalidFieldError} when there is no row, or a field is
 * malformed.
 *
 * @example
 * ```ts
 * import { type ClaimRow, claimCall } from 'countersign/channels'
 *
 * export const transactionOf = (rows: readonly ClaimRow[]) => claimCall({ rows })
 * ```
 */
export function claimCall(parameters: ClaimCallParameters): ChannelCall {
  checkMembers(parameters, ['rows'])
  const rows = parseClaimRows(Object(parameters).rows)
  return callOf(selectors.claim, word(32) + rowsWords(rows))
}

/** Parameters of {@link claimWithSignatureCall}. */
export type ClaimWithSignatureCallParameters = ClaimCallParameters & {
  /** Signature of the rows' `receiverAuthorizer`, see `claimTypedData`. */
  signature: Hex
}

/**
 * Builds the call that claims from channels of one `receiverAuthorizer`, with
 * its signature. Anyone may send it.
 *
 * @throws {@link InvalidFieldError} when there is no row, a field is malformed,
 * or the rows have more than one `receiverAuthorizer`.
 *
 * @example
 * ```ts
 * import { type ClaimRow, claimWithSignatureCall } from 'countersign/channels'
 *
 * export const transactionOf = (
 *   rows: readonly ClaimRow[],
 *   signature: `0x${string}`,
 * ) => claimWithSignatureCall({ rows, signature })
 * ```
 */
export function claimWithSignatureCall(
  parameters: ClaimWithSignatureCallParameters,
): ChannelCall {
  checkMembers(parameters, ['rows', 'signature'])
  const given: ClaimWithSignatureCallParameters = Object(parameters)
  const rows = rowsWords(parseSignedRows(given.rows))
  const signature = parseKeySignature(given.signature, 'signature')
  return callOf(
    selectors.claimWithSignature,
    word(64) + word(64 + rows.length / 2) + rows + bytesWords(signature),
  )
}

/** Encodes the rows as one dynamic array, its length first. */
function rowsWords(rows: readonly ClaimRow[]): string {
  return dynamicWords(
    rows.map(
      (row) =>
        configWords(row.config) +
        word(row.maxClaimable) +
        word(10 * 32) +
        word(row.claimed) +
        bytesWords(row.signature),
    ),
  )
}

/** Encodes an array of elements that have no fixed length. */
function dynamicWords(elements: readonly string[]): string {
  let at = 32 * elements.length
  const offsets = elements.map((element) => {
    const offset = word(at)
    at += element.length / 2
    return offset
  })
  return word(elements.length) + offsets.join('') + elements.join('')
}

/** Parameters of {@link settleCall}. */
export type SettleCallParameters = {
  receiver: Address
  /** Address of the token contract. */
  token: Address
}

/**
 * Builds the call that moves everything claimed to the receiver. Anyone may send
 * it. Does nothing if there is nothing to move.
 *
 * @throws {@link InvalidFieldError} when an address is malformed.
 *
 * @example
 * ```ts
 * import { settleCall } from 'countersign/channels'
 *
 * const { to, data } = settleCall({
 *   receiver: '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
 *   token: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
 * })
 * ```
 */
export function settleCall(parameters: SettleCallParameters): ChannelCall {
  checkMembers(parameters, ['receiver', 'token'])
  const given: SettleCallParameters = Object(parameters)
  const receiver = parseAddress(given.receiver, 'receiver')
  const token = parseAddress(given.token, 'token')
  return callOf(selectors.settle, word(receiver) + word(token))
}

/** A channel and an amount of it in base units. */
export type ChannelAmount = {
  config: ChannelConfig
  /** Base units of the token, at least 1. */
  value: bigint
}

/**
 * Builds the call that gives back to the payer. Only `receiver` or
 * `receiverAuthorizer` may send it. The contract pays at most what is not
 * claimed, and uses up a refund nonce even if it pays nothing.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { type ChannelConfig, refundCall } from 'countersign/channels'
 *
 * export const transactionOf = (config: ChannelConfig) =>
 *   refundCall({ config, value: 1_000_000n })
 * ```
 */
export function refundCall(parameters: ChannelAmount): ChannelCall {
  return callOf(selectors.refund, amountWords(parameters))
}

/**
 * Builds the call that starts the payer's withdrawal. Only `payer` or
 * `payerAuthorizer` may send it.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import { type ChannelConfig, initiateWithdrawCall } from 'countersign/channels'
 *
 * export const transactionOf = (config: ChannelConfig) =>
 *   initiateWithdrawCall({ config, value: 1_000_000n })
 * ```
 */
export function initiateWithdrawCall(parameters: ChannelAmount): ChannelCall {
  return callOf(selectors.initiateWithdraw, amountWords(parameters))
}

function amountWords(parameters: ChannelAmount): string {
  checkMembers(parameters, ['config', 'value'])
  const given: ChannelAmount = Object(parameters)
  const config = parseChannelConfig(given.config)
  return configWords(config) + word(parseUnits(given.value, 'value', 1n))
}

/** Parameters of {@link refundWithSignatureCall}. */
export type RefundWithSignatureCallParameters = ChannelAmount & {
  /** The refund nonce that was signed. */
  nonce: bigint
  /** Signature of `receiverAuthorizer`, see `refundTypedData`. */
  signature: Hex
}

/**
 * Builds the call that gives back to the payer, with the signature of
 * `receiverAuthorizer`. Anyone may send it.
 *
 * @throws {@link InvalidFieldError} when a field is malformed.
 *
 * @example
 * ```ts
 * import {
 *   type RefundWithSignatureCallParameters,
 *   refundWithSignatureCall,
 * } from 'countersign/channels'
 *
 * export const transactionOf = (refund: RefundWithSignatureCallParameters) =>
 *   refundWithSignatureCall(refund)
 * ```
 */
export function refundWithSignatureCall(
  parameters: RefundWithSignatureCallParameters,
): ChannelCall {
  checkMembers(parameters, ['config', 'value', 'nonce', 'signature'])
  const { config, value, nonce, signature }: RefundWithSignatureCallParameters =
    Object(parameters)
  return callOf(
    selectors.refundWithSignature,
    amountWords({ config, value }) +
      word(parseUint256(nonce, 'nonce')) +
      word(10 * 32) +
      bytesWords(parseKeySignature(signature, 'signature')),
  )
}

/** Parameters of {@link finalizeWithdrawCall}. */
export type FinalizeWithdrawCallParameters = { config: ChannelConfig }

/**
 * Builds the call that ends the payer's withdrawal. Only `payer` or
 * `payerAuthorizer` may send it, `withdrawDelay` seconds after its start. The
 * contract pays at most what is not claimed by then.
 *
 * @throws {@link InvalidFieldError} when the terms are malformed.
 *
 * @example
 * ```ts
 * import { type ChannelConfig, finalizeWithdrawCall } from 'countersign/channels'
 *
 * export const transactionOf = (config: ChannelConfig) =>
 *   finalizeWithdrawCall({ config })
 * ```
 */
export function finalizeWithdrawCall(
  parameters: FinalizeWithdrawCallParameters,
): ChannelCall {
  checkMembers(parameters, ['config'])
  const config = parseChannelConfig(Object(parameters).config)
  return callOf(selectors.finalizeWithdraw, configWords(config))
}

/** Parameters of {@link multicallCall}. */
export type MulticallCallParameters = {
  /** Calls to the channel contract, made one after another. */
  calls: readonly ChannelCall[]
}

/**
 * Builds the call that makes several calls to the contract in one transaction.
 * If one reverts, all do.
 *
 * @throws {@link InvalidFieldError} when there is no call, or one is malformed
 * or to another contract.
 *
 * @example
 * ```ts
 * import { type ClaimRow, claimCall, multicallCall, settleCall } from 'countersign/channels'
 *
 * export const claimAndSettle = (
 *   rows: readonly ClaimRow[],
 *   { receiver, token }: ClaimRow['config'],
 * ) =>
 *   multicallCall({ calls: [claimCall({ rows }), settleCall({ receiver, token })] })
 * ```
 */
export function multicallCall(
  parameters: MulticallCallParameters,
): ChannelCall {
  checkMembers(parameters, ['calls'])
  const { calls }: MulticallCallParameters = Object(parameters)
  if (!Array.isArray(calls) || calls.length === 0)
    throw new InvalidFieldError('calls', calls, 'a list of at least one call')
  const elements = calls.map((call, index) =>
    bytesWords(parseCallData(call, `calls[${index}]`)),
  )
  return callOf(selectors.multicall, word(32) + dynamicWords(elements))
}

function parseCallData(call: ChannelCall, field: string): Hex {
  const { to, data } = Object(call)
  if (parseAddress(to, `${field}.to`) !== channelContract)
    throw new InvalidFieldError(`${field}.to`, shown(to), channelContract)
  if (typeof data === 'string' && /^0x([\da-f]{2}){4,}$/i.test(data))
    return data as Hex
  // Not shown: the data of a claim contains signatures.
  throw new InvalidFieldError(`${field}.data`, data, 'the data of a call')
}
