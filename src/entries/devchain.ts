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
  UsdcPackageNotFoundError,
} from '../devchain/errors.js'
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
export { WebSocketPackageNotFoundError } from '../emulation/errors.js'
export type { DevPolicies, LogLimitWording } from '../emulation/policies.js'
export {
  type ProviderWording,
  type ProviderWordingName,
  providerWordings,
} from '../emulation/providerWordings.js'
export type {
  PhantomLogParameters,
  PreconfirmationControls,
} from '../sequencer/preconfirmationControls.js'
