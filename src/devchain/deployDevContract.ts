import { type Abi, type Address, encodeDeployData, type Hex } from 'viem'
import { mine, sendTransaction, waitForTransactionReceipt } from 'viem/actions'
import { checkMembers } from '../core/checkMembers.js'
import { DevCallRevertedError } from './errors.js'
import type { DevChain } from './types.js'

/** Parameters of {@link deployDevContract}. */
export type DeployDevContractParameters = {
  /** One of `devContracts`, or any ABI and creation code. */
  contract: { abi: Abi; bytecode: Hex }
  /** Arguments of the constructor. */
  args?: readonly unknown[] | undefined
}

/**
 * Deploys a contract from the relayer's account and mines a block.
 *
 * @throws {@link DevCallRevertedError} when the constructor reverts.
 *
 * @example
 * ```ts
 * import {
 *   deployDevContract,
 *   devContracts,
 *   startDevChain,
 * } from 'countersign/devchain'
 *
 * const chain = await startDevChain()
 * const wallet = await deployDevContract(chain, {
 *   contract: devContracts.strictWallet,
 *   args: [chain.clients.payer.account.address],
 * })
 * await chain.stop()
 * ```
 */
export async function deployDevContract(
  { clients }: Pick<DevChain, 'clients'>,
  parameters: DeployDevContractParameters,
): Promise<Address> {
  checkMembers(parameters, ['contract', 'args'])
  const { contract, args } = parameters
  const data = encodeDeployData({ ...contract, args: [...(args ?? [])] })
  const hash = await sendTransaction(clients.relayer, { data, gas: 8_000_000n })
  await mine(clients.test, { blocks: 1 })
  const receipt = await waitForTransactionReceipt(clients.public, { hash })
  if (receipt.status === 'success' && receipt.contractAddress)
    return receipt.contractAddress
  throw new DevCallRevertedError({
    functionName: 'constructor',
    reason: 'no reason given',
  })
}
