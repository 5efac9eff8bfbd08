export {
  type DeployDevContractParameters,
  deployDevContract,
} from './deployDevContract.js'
export {
  type DeployDevTokenParameters,
  deployDevToken,
} from './deployDevToken.js'
export { devContracts } from './devContracts.js'
export { WebSocketPackageNotFoundError } from './emulation/errors.js'
export type { DevPolicies } from './emulation/policies.js'
export {
  type ProviderWordingName,
  providerWordings,
} from './emulation/providerWordings.js'
export {
  AnvilNotFoundError,
  AnvilPackageNotFoundError,
  AnvilStartError,
  DelegationPackageNotFoundError,
  DevCallRevertedError,
  DevChainModeError,
  DevTokenNotFoundError,
  UsdcPackageNotFoundError,
} from './errors.js'
export type { PreconfirmationControls } from './sequencer/preconfirmationControls.js'
export { startDevChain } from './startDevChain.js'
export type {
  DevChain,
  DevWalletClient,
  StartDevChainParameters,
} from './types.js'
