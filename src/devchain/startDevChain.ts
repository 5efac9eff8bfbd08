import { getCode, increaseTime, mine, setCode } from 'viem/actions'
import { checkMembers } from '../core/checkMembers.js'
import { InvalidFieldError, shown } from '../core/errors.js'
import type { KnownToken } from '../core/knownTokens.js'
import { fiatTokenV2_2Artifact } from './contracts/FiatTokenV2_2.generated.js'
import { blockAccount, mintTokens, pauseToken } from './controlToken.js'
import { createDevClients, describeDevChain } from './createDevClients.js'
import { devAccounts } from './devAccounts.js'
import { devToken } from './devToken.js'
import { checkPolicies } from './emulation/policies.js'
import { controlPath } from './emulation/startEmulation.js'
import { DevTokenNotFoundError } from './errors.js'
import { initializeToken } from './initializeToken.js'
import { controlNetwork, launchNetwork } from './launchNetwork.js'
import { putBatches } from './putBatches.js'
import { putChannels } from './putChannels.js'
import { putSpendPermissions } from './putSpendPermissions.js'
import { putUsdc } from './putUsdc.js'
import { createLock } from './sequencer/createLock.js'
import type { DevChain, DevClients, StartDevChainParameters } from './types.js'

/**
 * Starts a local chain. It has USDC at the address and with the name of a real
 * network, a payer with 10,000 USDC, and accounts with ETH.
 *
 * For development only: all keys are public. The chain id is 31337 even for a
 * fork, so signatures made here are invalid everywhere else.
 *
 * @throws {@link InvalidFieldError} when an option is malformed.
 * @throws {@link AnvilNotFoundError} when there is no anvil program.
 * @throws {@link AnvilPackageNotFoundError} when `@viem/anvil` is missing.
 * @throws {@link UsdcPackageNotFoundError} when `token` is `'usdc'` and its npm
 * package is missing.
 * @throws {@link DelegationPackageNotFoundError} when `batches` is true and its
 * npm package is missing.
 * @throws {@link AnvilStartError} when the program does not start, or the port
 * is taken.
 * @throws {@link WebSocketPackageNotFoundError} when `preconfirmations` or
 * `policies` is given and `ws` is missing.
 * @throws {@link DevTokenNotFoundError} when the forked chain has no token at
 * the address of `network`.
 *
 * @example
 * ```ts
 * import { startDevChain } from 'countersign/devchain'
 *
 * const chain = await startDevChain({ network: 'base' })
 * await chain.mint({ to: chain.clients.payer.account.address, value: 5_000_000n })
 * await chain.warp(60)
 * await chain.stop()
 * ```
 *
 * @example
 * A network with pre-confirmations every 200 ms, behind a strict provider:
 * ```ts
 * import { startDevChain } from 'countersign/devchain'
 *
 * const chain = await startDevChain({
 *   preconfirmations: 'flashblocks',
 *   policies: { maxLogRange: { blocks: 2_000, wording: 'publicBase' } },
 * })
 * await chain.reorg({ depth: 1 })
 * await chain.stop()
 * ```
 */
export async function startDevChain(
  parameters: StartDevChainParameters = {},
): Promise<DevChain> {
  checkMembers(parameters, [
    'network',
    'token',
    'spendPermissions',
    'batches',
    'channels',
    'port',
    'blockTime',
    'preconfirmations',
    'tick',
    'epochBlocks',
    'policies',
    'forkUrl',
    'accounts',
    'binary',
  ])
  if (parameters.policies) checkPolicies(parameters.policies)
  const { network = 'base', forkUrl, token } = parameters
  const accounts = devAccounts(parameters.accounts ?? 10)
  const known = devToken(network)
  const running = await launchNetwork(parameters, accounts.length)
  const { port, emulation } = running
  const chain = describeDevChain(port, network)
  // The emulation itself waits for the block before it answers, so the clients
  // need not wait.
  const minesAtOnce = parameters.blockTime === 0 && !emulation
  const clients = createDevClients({ chain, accounts, minesAtOnce })
  // Functions of the chain, such as `mint`, send their requests to a path to
  // which no policy applies.
  const ownChain = describeDevChain(port, network, controlPath)
  const own = emulation
    ? createDevClients({ chain: ownChain, accounts, minesAtOnce: false })
    : clients
  try {
    // Turns off the node's request log: nobody reads it, and writing it takes
    // time.
    await own.test.setLoggingEnabled(false)
    if (forkUrl === undefined) await putToken(own, known, token)
    else if (!(await getCode(own.public, known)))
      throw new DevTokenNotFoundError({ network, token: known.address })
    if (parameters.spendPermissions) await putSpendPermissions(own)
    if (parameters.batches) await putBatches(own)
    if (parameters.channels) await putChannels(own)

    const devChain = {
      chain,
      accounts,
      clients,
      token: known.address,
      ...controlChain(own, known),
      ...controlNetwork(running),
      urls: {
        http: `http://127.0.0.1:${port}`,
        webSocket: `ws://127.0.0.1:${port}`,
      },
      stop: running.stop,
    }
    const to = clients.payer.account.address
    await devChain.mint({ to, value: 10_000n * 10n ** 6n })
    await emulation?.run()
    emulation?.setPolicies(parameters.policies ?? {})
    return devChain
  } catch (error) {
    await running.stop()
    throw error
  }
}

async function putToken(
  clients: DevClients,
  known: KnownToken,
  kind: StartDevChainParameters['token'],
): Promise<void> {
  const { address } = known
  if (kind === 'usdc') return putUsdc(clients, { ...known, token: address })
  const bytecode = fiatTokenV2_2Artifact.deployedBytecode
  await setCode(clients.test, { address, bytecode })
  await initializeToken(clients, { ...known, token: address })
}

function controlChain(
  clients: DevClients,
  { address: token }: KnownToken,
): Pick<DevChain, 'mint' | 'warp' | 'pause' | 'block'> {
  const sending = { ...clients, lock: createLock() }
  return {
    mint: async (parameters) => {
      checkMembers(parameters, ['to', 'value', 'token'])
      await mintTokens(sending, {
        ...parameters,
        token: parameters.token ?? token,
      })
    },
    warp: async (given) => {
      const seconds = Number(given)
      if (!Number.isSafeInteger(seconds) || seconds < 0)
        throw new InvalidFieldError(
          'seconds',
          shown(given),
          'an integer, 0 or more',
        )
      await increaseTime(clients.test, { seconds })
      await mine(clients.test, { blocks: 1 })
    },
    pause: (on = true) => pauseToken(sending, { token, on }),
    block: async (parameters) => {
      checkMembers(parameters, ['account', 'blocked'])
      await blockAccount(sending, { ...parameters, token })
    },
  }
}
