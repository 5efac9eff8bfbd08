import type { Client, Hash, Hex } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { type BlockHead, getBlockHead } from '../../chain/rpc/requestNode.js'
import { inTime } from '../../core/wait.js'
import type { ChargePayment } from './chargePayment.js'
import { findChargeHash } from './findChargeHash.js'

/** Background searches for the transactions of charges. */
export type ChargeSearches = {
  /**
   * Finds the transaction of a charge up to the newest block. Waits at most 500
   * ms: a search through a long history continues in the background, and a
   * later call returns its result.
   *
   * @throws {@link NodeError} {@link NodeAnswerError} while the search goes on,
   * and when the node does not answer.
   */
  find(client: Client, payment: ChargePayment): Promise<Hash | undefined>
  /**
   * Returns the transaction that an earlier search found, unless a
   * reorganization replaced the newest block of that search.
   */
  recall(client: Client, payment: ChargePayment): Promise<Hash | undefined>
}

type Finding = { head: BlockHead; hash: Hash | undefined }

/**
 * Milliseconds that a call waits for a search. A longer search continues in the
 * background.
 */
const patience = 500

/** Most search results to keep in memory. */
const mostKept = 1000

export function openChargeSearches(): ChargeSearches {
  // One map per client, because a search ends when its client's requests end.
  const running = new WeakMap<Client, Map<Hex, Promise<void>>>()
  const findings = new Map<Hex, Finding>()
  const keep = (key: Hex, finding: Finding) => {
    findings.delete(key)
    findings.set(key, finding)
    const [oldest] = findings.keys()
    if (findings.size > mostKept && oldest) findings.delete(oldest)
  }
  const recallFinding = async (client: Client, key: Hex) => {
    const known = findings.get(key)
    if (!known) return undefined
    const { number, hash } = known.head
    const head = await getBlockHead(client, number)
    if (hash !== undefined && head?.hash === hash) return known
    // A reorganization replaced blocks that this search read.
    if (head) findings.delete(key)
    return undefined
  }
  const search = async (client: Client, payment: ChargePayment) => {
    const { nonce, validAfter } = payment.message
    const known = await recallFinding(client, nonce)
    if (known?.hash !== undefined) return
    const head = await getNewestHead(client)
    const hash = await findChargeHash(client, payment, {
      since: validAfter,
      fromBlock: known && known.head.number + 1n,
      toBlock: head.number,
    })
    keep(nonce, { head, hash })
  }
  const start = (client: Client, payment: ChargePayment) => {
    const { nonce } = payment.message
    const own = running.get(client) ?? new Map<Hex, Promise<void>>()
    const started = search(client, payment).finally(() => own.delete(nonce))
    running.set(client, own.set(nonce, started))
    // The caller may have stopped waiting for this promise. Without this
    // handler, its failure would be an unhandled rejection.
    started.catch(() => undefined)
    return started
  }
  /**
   * Waits for a running search, then searches the blocks mined since it began.
   */
  const searchToHead = async (client: Client, payment: ChargePayment) => {
    const { nonce } = payment.message
    await running.get(client)?.get(nonce)
    await (running.get(client)?.get(nonce) ?? start(client, payment))
  }
  return {
    find: async (client, payment) => {
      const { nonce } = payment.message
      await inTime(searchToHead(client, payment), patience, throwUnfinished)
      const finding = findings.get(nonce)
      // Keeps no result if the search found no transaction: one wrong answer of
      // a node must not decide that. The next check of the charge searches
      // again.
      if (finding?.hash === undefined) findings.delete(nonce)
      return finding?.hash
    },
    recall: async (client, payment) =>
      (await recallFinding(client, payment.message.nonce))?.hash,
  }
}

function throwUnfinished(): never {
  throw new NodeAnswerError({
    method: 'eth_getLogs',
    problem: 'takes long; the search for the charge continues',
  })
}

async function getNewestHead(client: Client): Promise<BlockHead> {
  const head = await getBlockHead(client, 'latest')
  if (head) return head
  throw new NodeAnswerError({
    method: 'eth_getBlockByNumber',
    problem: 'has no latest block',
  })
}
