import { waitUntilMined } from '../sequencer/closePool.js'
import { connectNode, type NodeConnection } from '../sequencer/connectNode.js'
import { createLock } from '../sequencer/createLock.js'
import { type AnswerRpc, asJson } from '../sequencer/devRpc.js'
import { createFeed } from '../sequencer/feed.js'
import { runSequencer } from '../sequencer/runSequencer.js'
import {
  createSequencer,
  getHead,
  type Sequencer,
} from '../sequencer/sequencer.js'
import { answerFastBlocks } from './answerFastBlocks.js'
import { answerFlashblocks } from './answerFlashblocks.js'
import { withBlockFilters } from './blockFilters.js'
import { handleRpc } from './handleRpc.js'
import type { DevSocket } from './loadWebSockets.js'
import {
  type DevPolicies,
  refuseFullSender,
  refuseLogRange,
  refuseLogResults,
} from './policies.js'
import { serveRpc } from './serveRpc.js'
import { ownSubscriptions, passSubscriptions } from './subscriptions.js'

type StartEmulationParameters = {
  /** Port of the anvil behind the emulation, which clients do not use. */
  nodePort: number
  port?: number | undefined
  mode: 'flashblocks' | 'fastBlocks' | 'none'
  /** Milliseconds between two pre-confirmations. */
  tick: number
  /** Milliseconds between two blocks. */
  blockTime: number
}

/**
 * A server in front of a private node, which answers as a chosen network does.
 */
export type Emulation = {
  port: number
  setPolicies(policies: DevPolicies): void
  /**
   * Builds the blocks of the network. Absent if the node builds them itself.
   */
  sequencer: Sequencer | undefined
  /** Begins to make blocks at regular times. */
  run(): Promise<void>
  stop(): Promise<void>
}

/** How the network answers before any policy refuses or delays. */
type Network = {
  sequencer: Sequencer | undefined
  answer: AnswerRpc
  subscribe(socket: DevSocket): Promise<AnswerRpc>
}

/**
 * Path for the requests of the chain's own functions, such as `mint`. Policies
 * do not refuse or delay requests to this path.
 */
export const controlPath = '/control'

/**
 * Starts a server that passes requests on to a private node and answers as
 * another network would.
 */
export async function startEmulation(
  parameters: StartEmulationParameters,
): Promise<Emulation> {
  const node = connectNode(parameters.nodePort)
  let policies: DevPolicies = {}
  let count = 0
  let stopRunning: (() => Promise<void>) | undefined

  const network = await createNetwork(node, parameters, () => policies)
  const { sequencer } = network
  const restricted = restrict(network, node, () => policies)
  const handle = (text: string, answer: AnswerRpc, overHttp: boolean) =>
    handleRpc({ text, answer, policies, count: ++count, overHttp })
  const served = await serveRpc({
    port: parameters.port,
    handle: (text, path) => {
      if (path !== controlPath) return handle(text, restricted, true)
      const { answer } = network
      return handleRpc({ text, answer, policies: {}, count: 1, overHttp: true })
    },
    connect: async (socket) => {
      const subscriptions = await network.subscribe(socket)
      const answer: AnswerRpc = (method, params) =>
        /^eth_(un)?subscribe$/.test(method)
          ? subscriptions(method, params)
          : restricted(method, params)
      return async (text) => (await handle(text, answer, false)).body
    },
  })
  return {
    port: served.port,
    sequencer,
    setPolicies: (next) => {
      policies = next
      count = 0
    },
    run: async () => {
      if (sequencer)
        stopRunning = await runSequencer(sequencer, parameters.tick)
    },
    stop: async () => {
      await stopRunning?.()
      await served.close()
      node.close()
    },
  }
}

async function createNetwork(
  node: NodeConnection,
  { mode, nodePort, blockTime }: StartEmulationParameters,
  policies: () => DevPolicies,
): Promise<Network> {
  if (mode === 'none')
    return {
      sequencer: undefined,
      answer: async (method, params) => {
        const result = await node.request(method, params)
        if (blockTime === 0) await waitUntilMined(method, node.request)
        return result
      },
      subscribe: (socket) => passSubscriptions(socket, nodePort),
    }
  const preconfirms = mode === 'flashblocks'
  const feed = createFeed()
  const parts = { node, feed, lock: createLock(), preconfirms, blockTime }
  const sequencer = await createSequencer(parts)
  const hasPending = () => !policies().pendingFallsBack
  const answer = preconfirms
    ? answerFlashblocks(sequencer, hasPending)
    : answerFastBlocks(sequencer)
  return {
    sequencer,
    answer: withBlockFilters(answer, sequencer),
    subscribe: async (socket) => ownSubscriptions(feed, socket, policies),
  }
}

function restrict(
  { sequencer, answer }: Network,
  node: NodeConnection,
  policies: () => DevPolicies,
): AnswerRpc {
  return async (method, params) => {
    if (/^eth_sendRawTransaction/.test(method))
      await refuseFullSender(policies(), { node, raw: params[0] })
    if (method !== 'eth_getLogs') return answer(method, params)
    const source = sequencer ?? { node, head: await getHead(node) }
    await refuseLogRange(policies(), { source, filter: asJson(params[0]) })
    const logs = await answer(method, params)
    refuseLogResults(policies(), logs)
    return logs
  }
}
