import { NodeAnswerError, NodeError } from '../../chain/rpc/errors.js'
import { orNone } from '../../chain/rpc/orNone.js'
import {
  getBlockHead,
  getChainId,
  parseQuantity,
  requestNode,
} from '../../chain/rpc/requestNode.js'
import { getBalance } from '../../chain/state/getBalance.js'
import { CountersignError } from '../../core/CountersignError.js'
import { endOnAbort } from '../../core/onAbort.js'
import type { OrdersContext, OrderWallet } from '../context/types.js'
import { readerOf } from '../evidence/clientOf.js'
import { findKeyFault } from '../sending/findKeyFault.js'
import { findFinalityFault } from '../watcher/believeFinality.js'

/** The state of the node of one chain. */
export type ChainHealth = {
  chainId: number
  /** Number of the newest block; absent if the node did not answer. */
  block: bigint | undefined
  /** Time of the newest block in Unix seconds. */
  time: bigint | undefined
  /**
   * What is wrong with the node. A node without a `safe` block counts as faulty
   * if `policy.blocks` is not set, because then no order is fulfilled.
   */
  fault: string | undefined
  /** The fault as a code, without text from the node. */
  faultKind: NodeFault | undefined
}

/** What can be wrong with a node, or with a submitter. */
export type NodeFault =
  | 'unreachable'
  | 'timedOut'
  | 'rateLimited'
  /** The node answered with an error. */
  | 'refused'
  | 'malformedAnswer'
  /** The node has no `safe` block, and `policy.blocks` is not set. */
  | 'noSafeBlock'
  /**
   * The newest block is far below one that the database has seen, as after a
   * reset of a development chain.
   */
  | 'behindDatabase'
  /** The node is on another chain. */
  | 'otherChain'
  /** The submitter's wallet was removed, and orders wait for it. */
  | 'walletRemoved'
  /** The submitter is a capture key that cannot capture now. */
  | 'captureKey'

/**
 * Gets the newest block of a chain. Reports a failure in `fault` instead of
 * throwing.
 */
export async function getChainHealth(
  context: OrdersContext,
  chainId: number,
): Promise<ChainHealth> {
  try {
    const client = readerOf(context, chainId)
    const [found, head, safe, finalized] = await inTime(
      Promise.all([
        getChainId(client),
        getBlockHead(client, 'latest'),
        orNone(getBlockHead(client, 'safe')),
        orNone(getBlockHead(client, 'finalized')),
      ]),
    )
    if (found !== chainId) return onOtherChain(chainId, found)
    const [block, time] = [head?.number, head?.timestamp]
    const unsure = findFinalityFault(context.policy, { safe, finalized })
    const fault = head ? unsure?.message : 'has no latest block'
    const faultKind = head
      ? unsure && 'noSafeBlock'
      : ('malformedAnswer' as const)
    return { chainId, block, time, fault, faultKind }
  } catch (error) {
    return { chainId, block: undefined, time: undefined, ...faultOf(error) }
  }
}

/** Shows no block, because blocks of another chain say nothing about orders. */
function onOtherChain(chainId: number, found: number): ChainHealth {
  return {
    chainId,
    block: undefined,
    time: undefined,
    fault: `the node is on chain ${found}, and not ${chainId}: check its URL`,
    faultKind: 'otherChain',
  }
}

type Fault = Pick<ChainHealth, 'fault' | 'faultKind'>

/** A submitter's balance and the gas price, or why they could not be read. */
export type Funds = Fault & {
  /** Balance in wei. */
  balance: bigint | undefined
  /** Gas price in wei per gas. */
  gasPrice: bigint | undefined
}

export function noFunds(fault: Fault): Funds {
  return { balance: undefined, gasPrice: undefined, ...fault }
}

/**
 * Gets a submitter's balance and the gas price, and whether a capture key can
 * capture. Reports a failure in `fault` instead of throwing.
 */
export async function getFunds(
  context: OrdersContext,
  { submitter, key }: OrderWallet,
): Promise<Funds> {
  const method = 'eth_gasPrice'
  try {
    const client = readerOf(context, submitter.chainId)
    const [balance, price, keyFault] = await inTime(
      Promise.all([
        getBalance(client, { address: submitter.account, block: 'latest' }),
        requestNode(client, method, []),
        key && findKeyFault(client, key),
      ]),
    )
    const gasPrice = parseQuantity(price, method)
    const fault = keyFault?.message
    const faultKind = keyFault && ('captureKey' as const)
    return { balance, gasPrice, fault, faultKind }
  } catch (error) {
    return noFunds(faultOf(error))
  }
}

/** Milliseconds that a node has to answer; then it counts as unreachable. */
const patience = 5000

function inTime<value>(work: Promise<value>): Promise<value> {
  return endOnAbort(work, AbortSignal.timeout(patience))
}

/**
 * Describes a failure for `health`. Shows the message of our own errors; for
 * others only `failed`, because their messages may contain secrets.
 */
function faultOf(error: unknown): Fault {
  if (Object(error).name === 'TimeoutError')
    return {
      fault: `no answer in ${patience / 1000} seconds`,
      faultKind: 'timedOut',
    }
  const isCountersignError = error instanceof CountersignError
  const fault = isCountersignError ? error.message : 'failed'
  return { fault, faultKind: kindOf(error) }
}

function kindOf(error: unknown): NodeFault {
  if (error instanceof NodeAnswerError) return 'malformedAnswer'
  if (!(error instanceof NodeError)) return 'unreachable'
  const { kind, details } = error
  if (kind === 'rateLimit' || kind === 'limit') return 'rateLimited'
  if (kind === 'timeout' || /^no answer in/.test(String(details.words)))
    return 'timedOut'
  return kind === 'unreachable' ? 'unreachable' : 'refused'
}
