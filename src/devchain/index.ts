export {
  type DeployDevContractParameters,
  deployDevContract,
} from './deployDevContract.js'
export {
  type DeployDevTokenParameters,
  deployDevToken,
} from './deployDevToken.js'
export { type DevContracts, devContracts } from './devContracts.js'
export { WebSocketPackageNotFoundError } from './emulation/errors.js'
export type { DevPolicies, LogLimitWording } from './emulation/policies.js'
export {
  type ProviderWording,
  type ProviderWordingName,
  providerWordings,
} from './emulation/providerWordings.js'
export {
  AnvilNotFoundError,
  AnvilPackageNotFoundError,
  AnvilStartError,
  DevCallRevertedError,
  DevChainModeError,
  DevTokenNotFoundError,
  UsdcPackageNotFoundError,
} from './errors.js'
export type {
  PhantomLogParameters,
  PreconfirmationControls,
} from './sequencer/preconfirmationControls.js'
export { startDevChain } from './startDevChain.js'
export type {
  BlockDevAccountParameters,
  DevChain,
  DevClients,
  DevNetwork,
  DevWalletClient,
  MintDevTokensParameters,
  ReorgDevChainParameters,
  StartDevChainParameters,
} from './types.js'
