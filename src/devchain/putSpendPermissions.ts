import type { Address, Hex } from 'viem'
import { setCode } from 'viem/actions'
import { nonRevertingVerifierArtifact } from './contracts/NonRevertingVerifier.generated.js'
import { ownedWalletArtifact } from './contracts/OwnedWallet.generated.js'
import { ownedWalletFactoryArtifact } from './contracts/OwnedWalletFactory.generated.js'
import { publicERC6492ValidatorArtifact } from './contracts/PublicERC6492Validator.generated.js'
import { spendPermissionManagerArtifact } from './contracts/SpendPermissionManager.generated.js'
import type { DevClients } from './types.js'

/**
 * Contract codes, with the addresses that Base publishes for these contracts.
 */
const published: readonly (readonly [Address, Hex])[] = [
  [
    '0xf85210b21cc50302f477ba56686d2019dc9b67ad',
    spendPermissionManagerArtifact.deployedBytecode,
  ],
  [
    '0xcfce48b757601f3f351cb6f434cb0517aeee293d',
    publicERC6492ValidatorArtifact.deployedBytecode,
  ],
  [
    '0x0000bc370e4dc924f427d84e2f4b9ec81626ba7e',
    nonRevertingVerifierArtifact.deployedBytecode,
  ],
  [
    '0xba5ed110efdba3d005bfc882d75358acbbb85842',
    ownedWalletFactoryArtifact.deployedBytecode,
  ],
  [
    '0x00000110dcdedc9581cb5ecb8467282f2926534d',
    ownedWalletArtifact.deployedBytecode,
  ],
]

/**
 * Puts substitutes for the contracts of Base Account on a chain: the spend
 * permission manager, the ERC-6492 signature validator, a smart wallet and its
 * factory. Sets their code directly, without transactions, so no account nonce
 * changes.
 */
export async function putSpendPermissions({
  test,
}: Pick<DevClients, 'test'>): Promise<void> {
  for (const [address, bytecode] of published)
    await setCode(test, { address, bytecode })
}
