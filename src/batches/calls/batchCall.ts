import type { Address, Hex } from 'viem'
import { checkMembers } from '../../core/checkMembers.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { multicall } from '../../core/knownDelegates.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { selectors } from '../../core/tokenAbi.js'
import { bytesWords, word } from '../../core/words.js'

/** A call to put into a batch, for example from `captureCall`. */
export type BatchedCall = {
  to: Address
  data: Hex
  /**
   * Most gas that the call takes as a transaction of its own: for a capture, for
   * example, `at.gasUsed` of its verdict.
   * @default 100_000n
   */
  gas?: bigint | undefined
}

/** The call that runs a batch, ready for viem's `sendTransaction`. */
export type BatchCall = {
  to: Address
  data: Hex
  /**
   * Gas limit. A node's estimate would be too low: the transaction succeeds even
   * if its last calls run out of gas.
   */
  gas: bigint
}

/** Parameters of {@link batchCall}. */
export type BatchCallParameters = {
  /** The delegated account, which sends the batch to itself. */
  account: Address
  calls: readonly BatchedCall[]
}

/** `execute(bytes32 mode, bytes executionData)` of ERC-7579 and ERC-7821. */
const execute = 'e9ae5c53'

/** A batch in which a call that reverts does not undo the others. */
const tryMode = /* @__PURE__ */ '0101'.padEnd(64, '0')

/** `aggregate3((address target, bool allowFailure, bytes callData)[])` */
const aggregate3 = '82ad56cb'

/**
 * Builds the call by which a delegated account runs several calls in one
 * transaction. The account sends it to itself. A call that reverts does not undo
 * the others; a call that uses up all gas can undo those before it.
 *
 * MetaMask's delegate and Calibur take it alike. Check with `getDelegation` that
 * the account is delegated: for a plain account this call does nothing.
 *
 * @throws {@link InvalidFieldError} when an address or a call is malformed, there
 * are no calls, or a call is to the account itself.
 *
 * @example
 * ```ts
 * import { captureCall, type SignedPayment } from 'countersign'
 * import { batchCall } from 'countersign/batches'
 * import type { Address } from 'viem'
 *
 * const capturesOf = (account: Address, payments: readonly SignedPayment[]) =>
 *   batchCall({
 *     account,
 *     calls: payments.map((payment) => captureCall({ payment })),
 *   })
 * ```
 */
export function batchCall(parameters: BatchCallParameters): BatchCall {
  checkMembers(parameters, ['account', 'calls'])
  const account = parseCheckedAddress(parameters?.account, 'account')
  const calls = parseCalls(parameters.calls)
  // Calibur takes zero for the account itself, which may change its keys.
  for (const [index, { to }] of calls.entries())
    if (to === account || BigInt(to) === 0n)
      throw new InvalidFieldError(
        `calls[${index}].to`,
        shown(to),
        'another contract than the account',
      )
  const items = encodeItems(calls, word(0))
  return {
    to: account,
    data: `0x${execute}${tryMode}${word(64)}${bytesWords(`0x${items}`)}`,
    gas: gasOf(calls),
  }
}

/** Parameters of {@link multicallCall}. */
export type MulticallCallParameters = {
  calls: readonly BatchedCall[]
}

/**
 * Builds the call by which any account runs several calls in one transaction
 * through Multicall3. A call that reverts does not undo the others.
 *
 * It needs no delegation, but captures only Transfer payments: tokens refuse to
 * capture Receive payments for another sender than the recipient.
 *
 * @throws {@link InvalidFieldError} when an address or a call is malformed, there
 * are no calls, or a call captures a Receive payment.
 *
 * @example
 * ```ts
 * import { captureCall, type SignedPayment } from 'countersign'
 * import { multicallCall } from 'countersign/batches'
 *
 * const capturesOf = (payments: readonly SignedPayment[]) =>
 *   multicallCall({
 *     calls: payments.map((payment) => captureCall({ payment })),
 *   })
 * ```
 */
export function multicallCall(parameters: MulticallCallParameters): BatchCall {
  checkMembers(parameters, ['calls'])
  const calls = parseCalls(parameters?.calls)
  const refused: readonly string[] = [
    selectors.receiveVrs,
    selectors.receiveBytes,
  ]
  for (const [index, { data }] of calls.entries())
    if (refused.includes(data.slice(2, 10)))
      throw new InvalidFieldError(
        `calls[${index}].data`,
        shown(data.slice(0, 10)),
        'no call of receiveWithAuthorization',
        'Only the recipient can make it: use batchCall.',
      )
  return {
    to: multicall.address,
    data: `0x${aggregate3}${encodeItems(calls, word(1))}`,
    gas: gasOf(calls),
  }
}

/** A checked call. */
type ParsedCall = Required<BatchedCall> & { gas: bigint }

/**
 * Sums the gas of the calls. Each includes the 21,000 gas of a transaction of
 * its own, which is more than its part of the batch takes.
 */
const gasOf = (calls: readonly ParsedCall[]): bigint =>
  calls.reduce((sum, { gas }) => sum + gas, 50_000n)

function parseCalls(calls: readonly BatchedCall[]): readonly ParsedCall[] {
  if (!Array.isArray(calls) || calls.length === 0)
    throw new InvalidFieldError('calls', calls, 'a list of one or more calls')
  return calls.map((call: BatchedCall, index) =>
    parseBatchedCall(call, `calls[${index}]`),
  )
}

export function parseBatchedCall(call: BatchedCall, field: string): ParsedCall {
  const { to, data, gas = 100_000n } = Object(call)
  if (typeof data !== 'string' || !/^0x([\da-f]{2})+$/i.test(data))
    throw new InvalidFieldError(`${field}.data`, data, 'call data')
  if (typeof gas !== 'bigint' || gas <= 0n)
    throw new InvalidFieldError(`${field}.gas`, shown(gas), 'a bigint above 0')
  return {
    to: parseCheckedAddress(to, `${field}.to`),
    data: data.toLowerCase() as Hex,
    gas,
  }
}

/**
 * Encodes a list of `(address, word, bytes)`. The word between is the value in
 * wei, or whether the call may fail.
 */
function encodeItems(calls: readonly BatchedCall[], between: string): string {
  const items = calls.map(
    ({ to, data }) => word(to) + between + word(96) + bytesWords(data),
  )
  let offset = calls.length * 32
  const offsets = items.map((item) => {
    const at = word(offset)
    offset += item.length / 2
    return at
  })
  return word(32) + word(calls.length) + offsets.join('') + items.join('')
}
