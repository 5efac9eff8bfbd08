import { answerControl, isControlMethod } from '../sequencer/controlMethods.js'
import {
  type AnswerRpc,
  asJson,
  asJsonList,
  type Json,
  toQuantity,
} from '../sequencer/devRpc.js'
import { submitRaw, submitUnsigned } from '../sequencer/mempool.js'
import {
  findPending,
  type PendingView,
  visiblePending,
} from '../sequencer/pendingView.js'
import type { Sequencer } from '../sequencer/sequencer.js'
import { logsWithPending } from './canonicalLogs.js'
import { sendRawSync } from './sendRawSync.js'

/** Index of the block among the parameters of each method that reads state. */
const blockPlace: Readonly<Record<string, number>> = {
  eth_getBalance: 1,
  eth_getTransactionCount: 1,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getProof: 2,
  eth_call: 1,
  eth_estimateGas: 1,
  eth_createAccessList: 1,
  eth_simulateV1: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getBlockTransactionCountByNumber: 0,
  eth_getTransactionByBlockNumberAndIndex: 0,
}

/** Returns the parameters with another block instead of `pending`. */
export function withoutPending(
  method: string,
  params: readonly unknown[],
  block = 'latest',
): readonly unknown[] {
  const place = blockPlace[method]
  if (place === undefined || params[place] !== 'pending') return params
  return params.map((param, at) => (at === place ? block : param))
}

/**
 * Answers as a node of Base did while Base had Flashblocks (pre-confirmed parts
 * of a block).
 */
export function answerFlashblocks(
  sequencer: Sequencer,
  hasPending: () => boolean,
): AnswerRpc {
  const control = answerControl(sequencer)
  return async (method, params) => {
    if (isControlMethod(method)) return control(method, params)
    switch (method) {
      case 'eth_sendRawTransaction':
        return submitRaw(sequencer, params[0])
      case 'eth_sendTransaction':
      case 'eth_sendUnsignedTransaction':
        return submitUnsigned(sequencer, method, asJson(params[0]))
      case 'eth_sendRawTransactionSync':
        return sendRawSync(sequencer, params)
      case 'base_transactionStatus':
        return { status: isKnown(sequencer, params[0]) ? 'Known' : 'Unknown' }
    }
    return sequencer.lock.shared(() => {
      const view = hasPending() ? visiblePending(sequencer) : undefined
      return answerRead(sequencer, view)(method, params)
    })
  }
}

function answerRead(
  sequencer: Sequencer,
  view: PendingView | undefined,
): AnswerRpc {
  const { node } = sequencer
  return async (method, params) => {
    if (method === 'eth_getLogs')
      return logsWithPending(sequencer, asJson(params[0]), view)
    if (/^eth_getTransaction(ByHash|Receipt)$/.test(method)) {
      const found = await node.request(method, params)
      if (asJson(found).blockHash) return found
      const pending = findPending(view, params[0])
      if (method === 'eth_getTransactionReceipt')
        return pending?.receipt ?? null
      // A real node also returns transactions that still wait in its pool.
      const waiting = sequencer.mempool.find((one) => one.hash === params[0])
      return pending?.transaction ?? waiting?.pooled ?? null
    }
    const place = blockPlace[method]
    if (place === undefined || params[place] !== 'pending')
      return node.request(method, params)
    if (!view) return node.request(method, withoutPending(method, params))
    return answerPending({ sequencer, view, method, params })
  }
}

type PendingQuestion = {
  sequencer: Sequencer
  view: PendingView
  method: string
  params: readonly unknown[]
}

async function answerPending(question: PendingQuestion): Promise<unknown> {
  const { sequencer, view, method, params } = question
  const transactions = asJsonList(view.block.transactions)
  switch (method) {
    case 'eth_getBlockReceipts':
      return view.receipts
    case 'eth_getBlockByNumber':
      return params[1] === true ? view.block : withHashes(view.block)
    case 'eth_getBlockTransactionCountByNumber':
      return toQuantity(transactions.length)
    case 'eth_getTransactionByBlockNumberAndIndex':
      return transactions[Number(params[1])] ?? null
  }
  const isLive = typeof sequencer.view !== 'object'
  if (isLive) return sequencer.node.request(method, params)
  return answerFrozen(question, transactions)
}

/**
 * Answers `pending` as a stalled node does. Account nonces and balances stay as
 * they were when the stall began, and everything else comes from the newest
 * block.
 */
async function answerFrozen(
  { sequencer, view, method, params }: PendingQuestion,
  transactions: readonly Json[],
): Promise<unknown> {
  const { node, view: frozen } = sequencer
  const address = String(params[0]).toLowerCase()
  if (method === 'eth_getTransactionCount') {
    const below = toQuantity(view.number - 1)
    const count = await node.request(method, [params[0], below])
    const sent = transactions.filter(({ from }) => from === address)
    return toQuantity(Number(count) + sent.length)
  }
  const balances = typeof frozen === 'object' ? frozen.balances : undefined
  const balance = balances?.get(address)
  if (method === 'eth_getBalance' && balance) return balance
  return node.request(method, withoutPending(method, params))
}

/** Replaces the transactions of a block by their hashes. */
function withHashes(block: Json): Json {
  const transactions = asJsonList(block.transactions).map(({ hash }) => hash)
  return { ...block, transactions }
}

function isKnown({ mempool, included }: Sequencer, hash: unknown): boolean {
  return [...mempool, ...included].some((one) => one.hash === hash)
}
