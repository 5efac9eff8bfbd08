import type { Abi, Address, Hex } from 'viem'
import { checkMembers } from '../core/checkMembers.js'
import { deployDevContract } from './deployDevContract.js'
import { devContracts } from './devContracts.js'
import { initializeToken } from './initializeToken.js'
import type { DevChain } from './types.js'

/** Parameters of {@link deployDevToken}. */
export type DeployDevTokenParameters = {
  /** One of Circle's three versions. Default: `devContracts.fiatTokenV2_2`. */
  contract?: { abi: Abi; bytecode: Hex } | undefined
  /** Name of the token. Default: `'USD Coin'`. */
  name?: string | undefined
  /** Symbol of the token. Default: `'USDC'`. */
  symbol?: string | undefined
  /** Decimals of the token. Default: 6. */
  decimals?: number | undefined
}

/**
 * Deploys another token with the functions of Circle's USDC. To mint it, pass
 * its address to the chain's `mint`.
 *
 * @throws {@link DevCallRevertedError} when a call that deploys or prepares the
 * token reverts.
 * @throws {@link InvalidFieldError} when a parameter is unknown.
 *
 * @example
 * ```ts
 * import { deployDevToken, startDevChain } from 'countersign/devchain'
 *
 * const chain = await startDevChain()
 * const token = await deployDevToken(chain, { decimals: 18 })
 * const to = chain.clients.payer.account.address
 * await chain.mint({ token, to, value: 10n ** 18n })
 * await chain.stop()
 * ```
 */
export async function deployDevToken(
  chain: Pick<DevChain, 'clients'>,
  parameters: DeployDevTokenParameters = {},
): Promise<Address> {
  checkMembers(parameters, ['contract', 'name', 'symbol', 'decimals'])
  const {
    contract = devContracts.fiatTokenV2_2,
    name = 'USD Coin',
    symbol = 'USDC',
    decimals = 6,
  } = parameters
  const token = await deployDevContract(chain, { contract })
  await initializeToken(chain.clients, { token, name, symbol, decimals })
  return token
}
