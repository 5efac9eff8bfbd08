import { CountersignError } from '../core/CountersignError.js'
import { checkMembers } from '../core/checkMembers.js'
import { checkDevOptions } from './checkDevOptions.js'
import { devChainId } from './createDevClients.js'
import { devMnemonic } from './devAccounts.js'
import { checkPolicies } from './emulation/policies.js'
import { type Emulation, startEmulation } from './emulation/startEmulation.js'
import { AnvilStartError, DevChainModeError } from './errors.js'
import { findAnvil } from './findAnvil.js'
import { launchAnvil } from './launchAnvil.js'
import {
  controlPreconfirmations,
  type PreconfirmationControls,
} from './sequencer/preconfirmationControls.js'
import { reorgChain } from './sequencer/reorgChain.js'
import { reorgNode } from './sequencer/reorgNode.js'
import type { DevChain, StartDevChainParameters } from './types.js'

type RunningNetwork = {
  port: number
  /** Port of the anvil process. */
  nodePort: number
  /** Absent if clients connect to anvil directly. */
  emulation: Emulation | undefined
  stop(): Promise<void>
}

const blockTimes = { none: 1, flashblocks: 2, fastBlocks: 0.2 }

/**
 * Starts anvil and, if the options need it, an emulated network in front of it.
 */
export async function launchNetwork(
  parameters: StartDevChainParameters,
  accounts: number,
): Promise<RunningNetwork> {
  checkDevOptions(parameters)
  const { preconfirmations: mode = 'none', policies } = parameters
  const { forkUrl, port, binary, tick = 200, epochBlocks = 1 } = parameters
  const { blockTime = blockTimes[mode] } = parameters
  const isPlain = mode === 'none' && policies === undefined
  const anvil = await launchAnvil({
    binary: await findAnvil(binary),
    accounts,
    mnemonic: devMnemonic,
    chainId: devChainId,
    port: isPlain ? port : undefined,
    blockTime,
    forkUrl,
    epochBlocks,
    noMining: mode !== 'none',
  })
  const nodePort = anvil.port
  if (isPlain) return { ...anvil, nodePort, emulation: undefined }
  try {
    const emulation = await startEmulation({
      nodePort,
      port,
      mode,
      tick,
      blockTime: blockTime * 1000,
    })
    const stop = async () => {
      await emulation.stop()
      await anvil.stop()
    }
    return { port: emulation.port, nodePort, emulation, stop }
  } catch (error) {
    await anvil.stop()
    if (error instanceof CountersignError) throw error
    throw new AnvilStartError({ reason: String(Object(error).message) })
  }
}

/**
 * Returns the control functions of a chain. A function throws if the chain was
 * started without the option that it needs.
 */
export function controlNetwork({
  emulation,
  nodePort,
}: Pick<RunningNetwork, 'emulation' | 'nodePort'>): Pick<
  DevChain,
  'preconfirmations' | 'reorg' | 'setPolicies'
> {
  const sequencer = emulation?.sequencer
  return {
    preconfirmations: sequencer?.preconfirms
      ? controlPreconfirmations(sequencer)
      : refuseControls(),
    reorg: async (parameters) => {
      checkMembers(parameters, ['depth', 'transactions'])
      const { depth, transactions = 'replayed' } = parameters
      const replay = transactions === 'replayed'
      await (sequencer
        ? reorgChain(sequencer, { depth, replay })
        : reorgNode(nodePort, { depth, replay }))
    },
    setPolicies: (policies) => {
      checkPolicies(policies)
      if (emulation) return emulation.setPolicies(policies)
      throw new DevChainModeError({ control: 'setPolicies', needs: 'policies' })
    },
  }
}

function refuseControls(): PreconfirmationControls {
  const refuse = (control: string) => async (): Promise<never> => {
    const needs = "preconfirmations: 'flashblocks'"
    throw new DevChainModeError({ control, needs })
  }
  return {
    tick: refuse('tick'),
    seal: refuse('seal'),
    dropPending: refuse('dropPending'),
    reorder: refuse('reorder'),
    loseSnapshot: refuse('loseSnapshot'),
    stall: refuse('stall'),
    phantomLog: refuse('phantomLog'),
    duplicateDelta: refuse('duplicateDelta'),
    slowConsumers: refuse('slowConsumers'),
  }
}
