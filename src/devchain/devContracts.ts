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

/** Tokens, smart wallets and EIP-7702 delegates to run tests against. */
type DevContracts = {
  /**
   * Circle's token of 2020. It lacks `receiveWithAuthorization`, and an
   * authorization has three states (unused, used, canceled) instead of two.
   */
  fiatTokenV2_0: typeof fiatTokenV2_0Artifact
  /**
   * Circle's token of 2021. It accepts signatures by keys only, not by smart
   * wallets.
   */
  fiatTokenV2_1: typeof fiatTokenV2_1Artifact
  /**
   * Circle's token since 2023. It also accepts signatures by smart wallets
   * (ERC-1271).
   */
  fiatTokenV2_2: typeof fiatTokenV2_2Artifact
  /**
   * A token like PYUSD. It reverts with custom errors. It does not revert if a
   * payment nonce is already spent.
   */
  paxosToken: typeof paxosTokenArtifact
  /** OpenZeppelin's ERC-3009, as its npm package ships it. */
  ozToken: typeof ozTokenArtifact
  /** A wallet that accepts only the plain signature of its owner. */
  strictWallet: typeof strictWalletArtifact
  /** A wallet that accepts every signature. */
  permissiveWallet: typeof permissiveWalletArtifact
  /**
   * A wallet that accepts signatures in a simulation, but uses up all gas in a
   * real block.
   */
  lyingWallet: typeof lyingWalletArtifact
  /**
   * An EIP-7702 delegate that refuses every signature, even one by the
   * account's own key.
   */
  strictDelegate: typeof strictDelegateArtifact
  /**
   * An EIP-7702 delegate that accepts the plain signature of the account's own
   * key.
   */
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
