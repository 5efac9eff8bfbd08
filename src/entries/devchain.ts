export {
  type DeployDevContractParameters,
  deployDevContract,
} from '../devchain/deployDevContract.js'
export {
  type DeployDevTokenParameters,
  deployDevToken,
} from '../devchain/deployDevToken.js'
export { type DevContracts, devContracts } from '../devchain/devContracts.js'
export {
  AnvilNotFoundError,
  AnvilPackageNotFoundError,
  AnvilStartError,
  DevCallRevertedError,
  DevTokenNotFoundError,
} from '../devchain/errors.js'
export { startDevChain } from '../devchain/startDevChain.js'
export type {
  BlockDevAccountParameters,
  DevChain,
  DevClients,
  DevNetwork,
  DevWalletClient,
  MintDevTokensParameters,
  StartDevChainParameters,
} from '../devchain/types.js'
