import { type Address, type Hex, pad, stringToHex } from 'viem'
import { getCode, mine, setBalance, setCode } from 'viem/actions'
import {
  caliburDelegate,
  enforcers,
  exactCallEnforcer,
  metamaskDelegate,
  multicall,
} from '../core/knownDelegates.js'
import { caliburStandInArtifact } from './contracts/CaliburStandIn.generated.js'
import { multicall3Code } from './contracts/multicall3Code.js'
import { DevCallRevertedError } from './errors.js'
import { devAuthority } from './initializeToken.js'
import { loadDelegationCode } from './loadDelegationCode.js'
import type { DevClients } from './types.js'

/** The CREATE2 deployer, which anvil has from the start. */
const deployer: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const salt: Hex = stringToHex('GATOR', { size: 32 })

/** Account that may pause MetaMask's manager on live chains. */
const managerOwner: Address = '0xb0403b32f54d0bd752113f4009e8b534c6669f44'

/** ERC-4337's entry point 0.7. */
const entryPoint: Address = '0x0000000071727de22e5e9d8baf0edac6f37da032'

/**
 * Metadata hash of the deployed contract. It differs from that in the package,
 * which was compiled from other paths; all code before it is the same.
 */
const metadata = {
  manager: {
    at: 13_060,
    hash: '0xc2284ea0163aafd9aee402e7645e9db93d0c27667921732dd0458883520a4752',
  },
  delegate: {
    at: 12_677,
    hash: '0xd057b8f9a4d5cb46c51c1004ce8cae8dcd3c06323da26ccdfd3dd38584a43adb',
  },
  targets: {
    at: 1_835,
    hash: '0xc8822d4c7275ef8dedf0f20285c1cb5687e2081aef67716a170ae9a2f3de5001',
  },
  methods: {
    at: 2_033,
    hash: '0x9b5da9243dcd3815a06d34a51586ce02e6c67b993be22c2b463556cf3e0f77b4',
  },
  nonce: {
    at: 1_283,
    hash: '0xa9f5ef425adf403ab9ba4e7eb77d33d90a09d017b94aa31d1c936c4da108e6f0',
  },
  timestamp: {
    at: 1_244,
    hash: '0x937c24aea9e01f448cb62e2b3be0bdd7f808e5688cca18b12ff45cb1dabdc7b0',
  },
  exactCall: {
    at: 1_358,
    hash: '0x62106f857b9ea5652771f8110c9d685a8777516e1a78046d5db46a91586469c1',
  },
} as const satisfies Record<string, { at: number; hash: Hex }>

/**
 * Puts what runs batches at the published addresses: MetaMask's own delegate,
 * its manager and the manager's enforcers, Multicall3, and a stand-in for
 * Calibur. MetaMask's
 * constructors write the chain id into the code, so they run in transactions, of
 * an account that has no other use.
 *
 * @throws {@link DelegationPackageNotFoundError} when the npm package is missing.
 */
export async function putBatches({
  public: client,
  test,
}: Pick<DevClients, 'public' | 'test'>): Promise<void> {
  const code = await loadDelegationCode()
  await putMulticall(test)
  const { address } = caliburDelegate
  const { deployedBytecode: bytecode } = caliburStandInArtifact
  await setCode(test, { address, bytecode })

  await setBalance(test, { address: devAuthority, value: 10n ** 18n })
  const { manager } = metamaskDelegate
  const creations = [
    published(code.manager, metadata.manager, [managerOwner]),
    published(code.delegate, metadata.delegate, [manager.address, entryPoint]),
    published(code.targets, metadata.targets, []),
    published(code.methods, metadata.methods, []),
    published(code.nonce, metadata.nonce, []),
    published(code.timestamp, metadata.timestamp, []),
    published(code.exactCall, metadata.exactCall, []),
  ]
  for (const creation of creations)
    await test.sendUnsignedTransaction({
      from: devAuthority,
      to: deployer,
      data: `${salt}${creation}`,
      gas: 5_000_000n,
    })
  await mine(test, { blocks: 1 })
  // A wrong byte would give another address.
  const put = [
    manager,
    metamaskDelegate,
    ...Object.values(enforcers),
    exactCallEnforcer,
  ]
  for (const { address } of put)
    if (!(await getCode(client, { address })))
      throw new DevCallRevertedError({
        functionName: 'constructor',
        reason: `no code at ${address}`,
      })
}

/** Puts Multicall3 at its address. */
export async function putMulticall(test: DevClients['test']): Promise<void> {
  const { address } = multicall
  await setCode(test, { address, bytecode: multicall3Code })
}

/** Returns the creation code as it was deployed, without `0x`. */
function published(
  code: Hex,
  { at, hash }: { at: number; hash: Hex },
  args: readonly Address[],
): string {
  const digits = code.slice(2)
  const words = args.map((address) => pad(address).slice(2)).join('')
  return (
    digits.slice(0, at * 2) + hash.slice(2) + digits.slice(at * 2 + 64) + words
  )
}
