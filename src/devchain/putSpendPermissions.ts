import type { Address, Hex } from 'viem'
import { setCode } from 'viem/actions'
import { ownedWallet } from './contracts/OwnedWallet.generated.js'
import { ownedWalletFactory } from './contracts/OwnedWalletFactory.generated.js'
import { publicERC6492Validator } from './contracts/PublicERC6492Validator.generated.js'
import { spendPermissionManager } from './contracts/SpendPermissionManager.generated.js'
import type { DevClients } from './types.js'

/** Stand-ins by the addresses that Base publishes. */
const published: readonly (readonly [Address, Hex])[] = [
  [
    '0xf85210b21cc50302f477ba56686d2019dc9b67ad',
    spendPermissionManager.deployedBytecode,
  ],
  [
    '0xcfce48b757601f3f351cb6f434cb0517aeee293d',
    publicERC6492Validator.deployedBytecode,
  ],
  [
    '0xba5ed110efdba3d005bfc882d75358acbbb85842',
    ownedWalletFactory.deployedBytecode,
  ],
  ['0x00000110dcdedc9581cb5ecb8467282f2926534d', ownedWallet.deployedBytecode],
]

/**
 * Puts stand-ins for Base Account's contracts on a chain: the manager of spend
 * permissions, its validator, a wallet and the wallet's factory. Uses no
 * account nonce.
 */
export async function putSpendPermissions({
  test,
}: Pick<DevClients, 'test'>): Promise<void> {
  for (const [address, bytecode] of published)
    await setCode(test, { address, bytecode })
}
