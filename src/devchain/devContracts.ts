import { fiatTokenV2_0Artifact } from './contracts/FiatTokenV2_0.generated.js'
import { fiatTokenV2_1Artifact } from './contracts/FiatTokenV2_1.generated.js'
import { fiatTokenV2_2Artifact } from './contracts/FiatTokenV2_2.generated.js'
import { lyingWalletArtifact } from './contracts/LyingWallet.generated.js'
import { ozTokenArtifact } from './contracts/OzToken.generated.js'
import { paxosTokenArtifact } from './contracts/PaxosToken.generated.js'
import { permissiveDelegateArtifact } from './contracts/PermissiveDelegate.generated.js'
import { permissiveWalletArtifact } from './contracts/PermissiveWallet.generated.js'
import { strictDelegateArtifact } from './contracts/StrictDelegate.generated.js'
import { strictWalletArtifact } from './contracts/StrictWallet.generated.js'

/** Tokens, contract wallets and EIP-7702 delegates to test against. */
type DevContracts = {
  /**
   * Circle's token of 2020: no `receiveWithAuthorization`, and three states of
   * an authorization.
   */
  fiatTokenV2_0: typeof fiatTokenV2_0Artifact
  /** Circle's token of 2021: accepts signatures of plain accounts only. */
  fiatTokenV2_1: typeof fiatTokenV2_1Artifact
  /** Circle's token since 2023. */
  fiatTokenV2_2: typeof fiatTokenV2_2Artifact
  /** A token like PYUSD: custom errors, and a spent nonce does not revert. */
  paxosToken: typeof paxosTokenArtifact
  /** OpenZeppelin's ERC-3009, as its package ships it. */
  ozToken: typeof ozTokenArtifact
  /** Accepts its owner's plain signature. */
  strictWallet: typeof strictWalletArtifact
  /** Accepts anything as a signature. */
  permissiveWallet: typeof permissiveWalletArtifact
  /** Accepts in a simulation, and uses all gas when mined. */
  lyingWallet: typeof lyingWalletArtifact
  /** Refuses every signature, even the account's own. */
  strictDelegate: typeof strictDelegateArtifact
  /** Accepts the plain signature of the account's own key. */
  permissiveDelegate: typeof permissiveDelegateArtifact
}

/**
 * Compiled contracts for tests on a development chain. The tokens behave like
 * the real ones only in the functions that this library uses.
 */
export const devContracts: DevContracts = {
  fiatTokenV2_0: fiatTokenV2_0Artifact,
  fiatTokenV2_1: fiatTokenV2_1Artifact,
  fiatTokenV2_2: fiatTokenV2_2Artifact,
  paxosToken: paxosTokenArtifact,
  ozToken: ozTokenArtifact,
  strictWallet: strictWalletArtifact,
  permissiveWallet: permissiveWalletArtifact,
  lyingWallet: lyingWalletArtifact,
  strictDelegate: strictDelegateArtifact,
  permissiveDelegate: permissiveDelegateArtifact,
}
