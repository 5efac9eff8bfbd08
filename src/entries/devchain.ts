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
  DevChainModeError,
  DevTokenNotFoundError,
  WebSocketPackageNotFoundError,
} from '../devchain/errors.js'
export type { DevPolicies, LogLimitWording } from '../devchain/policies.js'
export type {
  PhantomLogParameters,
  PreconfirmationControls,
} from '../devchain/preconfirmationControls.js'
export {
  type ProviderWording,
  type ProviderWordingName,
  providerWordings,
} from '../devchain/providerWordings.js'
export { startDevChain } from '../devchain/startDevChain.js'
export type {
  BlockDevAccountParameters,
  DevChain,
  DevClients,
  DevNetwork,
  DevWalletClient,
  MintDevTokensParameters,
  ReorgDevChainParameters,
  StartDevChainParameters,
} from '../devchain/types.js'
