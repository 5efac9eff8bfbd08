import type { Client, Hash } from 'viem'
import { CountersignError } from '../../core/CountersignError.js'
import { checkMembers, type MembersOf } from '../../core/checkMembers.js'
import { checkUnit } from '../../core/clock.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parsePayment } from '../../core/fields.js'
import {
  type CaptureProof,
  type ProofReceipt,
  proveCapture,
  proves,
} from '../../core/receiptProof.js'
import { topics } from '../../core/tokenAbi.js'
import type { AnyPayment, Finality } from '../../core/types.js'
import { word } from '../../core/words.js'
import { parseBlock } from '../logs/encodeLogFilter.js'
import {
  findAuthorizationLogs,
  type SpentLogFilter,
} from '../logs/findAuthorizationLogs.js'
import { rangeLimit } from '../logs/getLogRange.js'
import { namesBlock } from '../logs/standsInBlock.js'
import { NodeAnswerError } from '../rpc/errors.js'
import {
  type BlockHead,
  type BlockSelector,
  encodeBlock,
  getBlockHead,
  parseBytes,
  parseList,
  requestNode,
} from '../rpc/requestNode.js'
import { authorizationStateCall, readSpent } from './getAuthorizationState.js'
import { getReceipt } from './getReceipt.js'
import { placeReceipt } from './placeReceipts.js'
import type { Call, RunHead } from './types.js'

/** The outcome of a payment at one block. */
export type PaymentOutcome =
  | { status: 'unused' }
  | { status: 'captured'; proof: CaptureProof }
  | { status: 'canceled'; transactionHash: Hash; blockNumber: bigint }
  /**
   * The nonce was used, but neither by a capture of this payment nor by a
   * cancellation.
   */
  | { status: 'consumed'; transactionHash: Hash; blockNumber: bigint }
  /**
   * The nonce is unused, and the time of the block is at or after
   * `validBefore`, so the payment can no longer be captured.
   */
  | { status: 'expired' }
  /** The nonce is used, but by no transaction in this block or a later one. */
  | { status: 'unknown'; searchedFrom: bigint }

/** How one kind of payment is found on the chain. */
export type OutcomeKind = {
  /** Parses a payment of this kind, signed or not. */
  parse(value: unknown): AnyPayment
  /**
   * Builds the call that asks the contract whether the payment nonce is used.
   * The contract returns one word.
   */
  spentCall(payment: AnyPayment): Call
  /**
   * Builds the filter for the logs of the transaction that used the payment
   * nonce.
   */
  spentLogs(payment: AnyPayment): SpentLogFilter
  /**
   * Finds the proof of a capture in a receipt; `undefined` if there is none.
   */
  prove(
    receipt: ProofReceipt,
    payment: AnyPayment,
  ): Omit<CaptureProof, 'finality'> | undefined
  /**
   * Returns how a transaction without that proof used the nonce; `undefined` if
   * it did not use it.
   */
  end(
    receipt: ProofReceipt,
    payment: AnyPayment,
  ): 'canceled' | 'consumed' | undefined
}

/**
 * EIP-3009: the proof is the exact transfer, after the event that the payment
 * nonce was used.
 */
export const eip3009Outcome: OutcomeKind = {
  parse: parsePayment,
  spentCall: authorizationCall,
  spentLogs: authorizationLogs,
  prove: proveCapture,
  end: endOfAuthorization,
}

export function authorizationCall({ domain, message }: AnyPayment): Call {
  const { from, nonce } = message
  return authorizationStateCall(domain.verifyingContract, from, nonce)
}

export function authorizationLogs({
  domain,
  message,
}: AnyPayment): SpentLogFilter {
  const { from, nonce } = message
  return {
    address: domain.verifyingContract,
    topics: [[topics.used, topics.canceled], `0x${word(from)}`, nonce],
  }
}

export function endOfAuthorization(
  receipt: ProofReceipt,
  { domain, message }: AnyPayment,
): 'canceled' | 'consumed' | undefined {
  const { from: authorizer, nonce } = message
  const token = domain.verifyingContract
  const used = { authorizer, nonce }
  if (proves(receipt, 'canceled', used, token)) return 'canceled'
  return proves(receipt, 'used', used, token) ? 'consumed' : undefined
}

/** The payment, and how {@link getPaymentOutcome} searches for its outcome. */
export type GetPaymentOutcomeParameters = {
  payment: AnyPayment
  /** Pass `checkout` for a checkout payment. @default EIP-3009 */
  kind?: OutcomeKind | undefined
  /**
   * Hash of a transaction that may have captured or canceled the payment. It is
   * checked before the search.
   */
  hash?: Hash | undefined
  /** The block at which to read the outcome. @default 'latest' */
  block?: BlockSelector | undefined
  /**
   * Unix seconds. The search for the transaction that used the nonce goes back
   * to this time. Pass it if a cancellation can be older than `validAfter`.
   */
  since?: bigint | undefined
  /**
   * Most blocks in one log request.
   * @default 2000n
   */
  maxBlockRange?: bigint | undefined
}

const members: MembersOf<GetPaymentOutcomeParameters> = {
  payment: true,
  kind: true,
  hash: true,
  block: true,
  since: true,
  maxBlockRange: true,
}

/**
 * Reads the outcome of a payment from the chain. A receipt with the exact
 * transfer proves `captured`. Without a known transaction, searches the logs
 * back from `block` to the payment's `validAfter`.
 *
 * Until the block is final, a reorganization can undo the outcome.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed, or the
 * client is on another chain than the payment.
 * @throws {@link UnsupportedTokenError} when there is no such token.
 * @throws {@link LogRangeError} when the node refuses the logs of one block.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answers contradict each other, for
 * example while one replica is behind another.
 *
 * @example
 * ```ts
 * import { getPaymentOutcome, type Payment } from 'countersign'
 * import type { PublicClient } from 'viem'
 *
 * async function isSettled(client: PublicClient, payment: Payment) {
 *   const outcome = await getPaymentOutcome(client, {
 *     payment,
 *     block: 'finalized',
 *   })
 *   return outcome.status === 'captured'
 * }
 * ```
 */
export async function getPaymentOutcome(
  client: Client,
  parameters: GetPaymentOutcomeParameters,
): Promise<PaymentOutcome> {
  checkMembers(parameters, members)
  const { hash, block = 'latest', maxBlockRange } = parameters
  const { kind = eip3009Outcome } = parameters
  if (maxBlockRange !== undefined) rangeLimit(client, maxBlockRange)
  return findOutcome(client, {
    hash,
    block: parseBlock(block),
    since: getSince(parameters.since),
    maxBlockRange,
    kind,
    payment: kind.parse(parameters.payment),
  })
}

/**
 * Does the work of `getPaymentOutcome` without checking the parameters, because
 * `waitForOutcome` calls it often.
 */
export async function findOutcome(
  client: Client,
  parameters: GetPaymentOutcomeParameters & { block: BlockSelector },
): Promise<PaymentOutcome> {
  const { payment, kind = eip3009Outcome, hash, block, since } = parameters
  const { maxBlockRange = 2000n } = parameters
  const { validAfter, validBefore } = payment.message
  requireChain(payment, client.chain?.id)

  const spentCall = kind.spentCall(payment)
  const { consumed, head } = await readSpent(client, spentCall, block)
  requireChain(payment, head.chainId)
  if (!consumed)
    return { status: head.timestamp >= validBefore ? 'expired' : 'unused' }

  const newest = await getHeader(client, block, head)
  const upTo = newest.number
  const judged = { block, newest, kind }
  const told =
    hash && (await getTransactionOutcome(client, payment, hash, judged))
  if (told) return told

  const earliest =
    since !== undefined && since < validAfter ? since : validAfter
  const search = await findAuthorizationLogs(client, {
    filter: kind.spentLogs(payment),
    toBlock: upTo,
    pending: block === 'pending',
    since: earliest,
    maxBlockRange,
    findInBlock: (block) => findInBlock(client, payment, { block, kind }),
  })
  for (const found of search.hashes) {
    const outcome = await getTransactionOutcome(client, payment, found, judged)
    if (outcome) return outcome
  }
  if (search.hashes.length > 0)
    throw new NodeAnswerError({
      method: 'eth_getTransactionReceipt',
      problem: 'lacks the event that the logs show',
    })
  const isTag = typeof block !== 'bigint' && head.via !== 'calls'
  if (isTag && block !== 'pending') await requireSpent(client, spentCall, upTo)
  return { status: 'unknown', searchedFrom: search.searchedFrom }
}

/**
 * Checks an optional time in Unix seconds.
 *
 * @throws {@link InvalidFieldError} when it is not a time.
 */
export function getSince(since: bigint | undefined): bigint | undefined {
  checkUnit(since, 'since')
  const isTime = typeof since === 'bigint' && since >= 0n
  if (since !== undefined && !isTime)
    throw new InvalidFieldError(
      'since',
      shown(since),
      'a bigint of Unix seconds',
    )
  return since
}

/**
 * Throws if the node is on another chain, where the token of the same address
 * is another contract.
 */
export function requireChain(
  { domain: { chainId } }: AnyPayment,
  found: number | undefined,
): void {
  if (found !== undefined && found !== chainId)
    throw new InvalidFieldError(
      'payment.domain.chainId',
      shown(chainId),
      `${found}, the chain of the client`,
    )
}

/**
 * Reads the header for the block number, because contracts on Arbitrum see that
 * of an L1 block. Throws if the header comes from a replica that is behind
 * the one that returned the state.
 */
async function getHeader(
  client: Client,
  block: BlockSelector,
  { number, timestamp, via }: RunHead,
): Promise<BlockHead> {
  if (typeof block === 'bigint') return { number: block, timestamp }
  if (via === 'calls') return { number, timestamp }
  const header = await getBlockHead(client, block)
  // Skips `pending`: the times of a pending header and of a pending call can
  // differ.
  if (header && block !== 'pending' && header.timestamp < timestamp)
    throw headerBehind()
  if (!header) return { number, timestamp }
  // The hash of a block that is being built may be invented.
  return block === 'pending' ? { ...header, hash: undefined } : header
}

/**
 * Throws if the header came from a replica that is behind. Two blocks can have
 * the same time, so the time alone does not show it. But at the block of that
 * header the nonce is still unused. Does not throw if the node no longer has
 * the state of that block.
 */
async function requireSpent(
  client: Client,
  spentCall: Call,
  block: bigint,
): Promise<void> {
  const asked = readSpent(client, spentCall, block)
  const found = await asked.catch((error: unknown) => {
    if (!(error instanceof CountersignError) || error.retryable) throw error
  })
  if (found?.consumed === false) throw headerBehind()
}

function headerBehind(): NodeAnswerError {
  return new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: 'is older than the state of eth_call',
  })
}

/**
 * Finds the transactions in a block that used the nonce. Includes those whose
 * receipt is missing, because they may have used it.
 */
async function findInBlock(
  client: Client,
  payment: AnyPayment,
  { block, kind }: { block: bigint; kind: OutcomeKind },
): Promise<readonly Hash[]> {
  const method = 'eth_getBlockByNumber'
  const answer = await requestNode(client, method, [encodeBlock(block), false])
  const found = await Promise.all(
    parseList(Object(answer).transactions, method).map(async (one) => {
      const hash = parseBytes(one, method)
      const receipt = await getReceipt(client, hash)
      const isNamed =
        !receipt || judgeReceipt(receipt, payment, undefined, kind)
      return isNamed ? hash : []
    }),
  )
  return found.flat()
}

/**
 * Gets the outcome that one transaction shows. Ignores its receipt if the block
 * is after `newest`, or unless it stands in a block of the chain.
 */
async function getTransactionOutcome(
  client: Client,
  payment: AnyPayment,
  hash: Hash,
  {
    block,
    newest,
    kind,
  }: { block: BlockSelector; newest: BlockHead; kind: OutcomeKind },
): Promise<PaymentOutcome | undefined> {
  const finality = block === 'safe' || block === 'finalized' ? block : undefined
  const found = await getReceipt(client, hash)
  if (!found || found.blockNumber > newest.number) return undefined
  const receipt = await placeReceipt(client, found, newest)
  if (!namesBlock(receipt.blockHash) && block !== 'pending') return undefined
  return judgeReceipt(receipt, payment, finality, kind)
}

/**
 * Returns the outcome that a receipt shows; `undefined` if the transaction did
 * not use this payment's nonce. The receipt must come from `placeReceipt`, so
 * that its block hash shows whether it is only pre-confirmed.
 */
export function judgeReceipt(
  receipt: ProofReceipt,
  payment: AnyPayment,
  sealedFinality: Finality | undefined,
  kind: OutcomeKind = eip3009Outcome,
): PaymentOutcome | undefined {
  const { transactionHash, blockNumber, blockHash } = receipt
  const finality = namesBlock(blockHash) ? sealedFinality : 'preconfirmed'
  const proof = kind.prove(receipt, payment)
  if (proof)
    return {
      status: 'captured',
      proof: { ...proof, finality: finality ?? 'included' },
    }
  const status = kind.end(receipt, payment)
  return status && { status, transactionHash, blockNumber }
}
