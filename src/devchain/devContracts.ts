import { fiatTokenV2_0 } from './contracts/FiatTokenV2_0.generated.js'
import { fiatTokenV2_1 } from './contracts/FiatTokenV2_1.generated.js'
import { fiatTokenV2_2 } from './contracts/FiatTokenV2_2.generated.js'
import { lyingWallet } from './contracts/LyingWallet.generated.js'
import { ozToken } from './contracts/OzToken.generated.js'
import { paxosToken } from './contracts/PaxosToken.generated.js'
import { permissiveDelegate } from './contracts/PermissiveDelegate.generated.js'
import { permissiveWallet } from './contracts/PermissiveWallet.generated.js'
import { strictDelegate } from './contracts/StrictDelegate.generated.js'
import { strictWallet } from './contracts/StrictWallet.generated.js'

/** Tokens, contract wallets and EIP-7702 delegates to test against. */
export type DevContracts = {
  /**
   * Circle's token of 2020: no `receiveWithAuthorization`, and three states of
   * an authorization.
   */
  fiatTokenV2_0: typeof fiatTokenV2_0
  /** Circle's token of 2021: accepts signatures of plain accounts only. */
  fiatTokenV2_1: typeof fiatTokenV2_1
  /** Circle's token since 2023. */
  fiatTokenV2_2: typeof fiatTokenV2_2
  /** A token like PYUSD: custom errors, and a spent nonce does not revert. */
  paxosToken: typeof paxosToken
  /** OpenZeppelin's ERC-3009, as its package ships it. */
  ozToken: typeof ozToken
  /** Accepts its owner's plain signature. */
  strictWallet: typeof strictWallet
  /** Accepts anything as a signature. */
  permissiveWallet: typeof permissiveWallet
  /** Accepts in a simulation, and uses all gas when mined. */
  lyingWallet: typeof lyingWallet
  /** Refuses every signature, even the account's own. */
  strictDelegate: typeof strictDelegate
  /** Accepts the plain signature of the account's own key. */
  permissiveDelegate: typeof permissiveDelegate
}

/**
 * Compiled contracts for tests on a development chain. The tokens behave like
 * the real ones only in the functions that this library uses.
 */
export const devContracts: DevContracts = {
  fiatTokenV2_0,
  fiatTokenV2_1,
  fiatTokenV2_2,
  paxosToken,
  ozToken,
  strictWallet,
  permissiveWallet,
  lyingWallet,
  strictDelegate,
  permissiveDelegate,
}
