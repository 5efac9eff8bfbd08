import { captureCall, type SignedPayment } from 'countersign'
import {
  type CaptureKeyStatus,
  createCaptureKey,
  delegateSubmitter,
  getCaptureKey,
} from 'countersign/batches'
import {
  type Address,
  concatHex,
  decodeAbiParameters,
  decodeFunctionData,
  encodeAbiParameters,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  parseAbi,
  parseAbiParameters,
  type TransactionReceipt,
  toHex,
  type WalletClient,
  zeroHash,
} from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import {
  mine,
  readContract,
  sendTransaction,
  setBalance,
  waitForTransactionReceipt,
} from 'viem/actions'
import {
  chain,
  node,
  openAccount,
  reader,
  relayer,
  walletOf,
} from './batchDesk.js'

export const manager: Address = '0xdb9B1e94B5b69Df7e401DDbedE43491141047dB3'

/** Account that may pause the manager on live chains. */
const managerOwner: Address = '0xb0403B32f54d0bD752113f4009e8B534C6669f44'

const managerAbi = parseAbi([
  'function redeemDelegations(bytes[] contexts, bytes32[] modes, bytes[] calls)',
  'function getDelegationHash((address delegate,address delegator,bytes32 authority,(address enforcer,bytes terms,bytes args)[] caveats,uint256 salt,bytes signature) delegation) pure returns (bytes32)',
  'function disableDelegation((address delegate,address delegator,bytes32 authority,(address enforcer,bytes terms,bytes args)[] caveats,uint256 salt,bytes signature) delegation)',
  'function pause()',
  'function unpause()',
])

const delegations = parseAbiParameters(
  '(address delegate,address delegator,bytes32 authority,(address enforcer,bytes terms,bytes args)[] caveats,uint256 salt,bytes signature)[]',
)

/** A delegation as MetaMask's contracts have it. */
export type PlainDelegation = {
  delegate: Address
  delegator: Address
  authority: Hex
  caveats: readonly { enforcer: Address; terms: Hex; args: Hex }[]
  salt: bigint
  signature: Hex
}

/** The delegations in a permission context, read by viem. */
export const decodeContext = (context: Hex): readonly PlainDelegation[] =>
  decodeAbiParameters(delegations, context)[0]

export const encodeContext = (chained: readonly PlainDelegation[]): Hex =>
  encodeAbiParameters(delegations, [chained])

/** A treasury that is delegated, and a key of it. */
export async function openTreasury({
  validBefore,
  value = 10n ** 18n,
}: {
  validBefore?: bigint
  value?: bigint
} = {}): Promise<{
  treasury: PrivateKeyAccount
  wallet: WalletClient
  key: PrivateKeyAccount
  permission: Hex
  grant: typeof grantTo
}> {
  const treasury = await openAccount()
  const key = await openAccount()
  const wallet = walletOf(treasury)
  await setBalance(node, { address: treasury.address, value })
  await delegateSubmitter(wallet, { sponsor: relayer.account })
  const grantTo = () =>
    createCaptureKey(wallet, {
      key: key.address,
      tokens: [chain.token],
      validBefore,
    })
  const { permission } = await grantTo()
  return { treasury, wallet, key, permission, grant: grantTo }
}

export const balanceOf = (account: Address): Promise<bigint> =>
  readContract(reader, {
    address: chain.token,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })

export async function statusOf(permission: Hex): Promise<CaptureKeyStatus> {
  return (await getCaptureKey(reader, { permission })).status
}

/** Sends a call, and tells what became of it. */
export async function tryCall(
  account: PrivateKeyAccount,
  { to, data, gas = 3_000_000n }: { to: Address; data: Hex; gas?: bigint },
): Promise<{
  status: 'success' | 'reverted'
  gasUsed: bigint
  receipt: TransactionReceipt
}> {
  const hash = await sendTransaction(walletOf(account), {
    to,
    data,
    gas,
    account,
    chain: chain.chain,
  })
  const receipt = await waitForTransactionReceipt(reader, { hash })
  const { status, gasUsed } = receipt
  return { status, gasUsed, receipt }
}

/** Encodes any call through the manager. */
export const redeem = (
  context: Hex,
  {
    to,
    data = '0x',
    value = 0n,
    mode = zeroHash,
  }: { to: Address; data?: Hex; value?: bigint; mode?: Hex },
): { to: Address; data: Hex } => ({
  to: manager,
  data: encodeFunctionData({
    abi: managerAbi,
    functionName: 'redeemDelegations',
    args: [
      [context],
      [mode],
      [concatHex([to, toHex(value, { size: 32 }), data])],
    ],
  }),
})

/** The permission context in the input of a call of the manager. */
export function contextIn(data: Hex): Hex {
  const { functionName, args } = decodeFunctionData({ abi: managerAbi, data })
  const [context] = functionName === 'redeemDelegations' ? args[0] : []
  if (!context) throw new Error('no context')
  return context
}

/** The call with which an account ends one of its delegations. */
export const disable = (context: Hex): { to: Address; data: Hex } => ({
  to: manager,
  data: encodeFunctionData({
    abi: managerAbi,
    functionName: 'disableDelegation',
    args: decodeContext(context) as [PlainDelegation],
  }),
})

/** Signs any delegation, as a thief or a careless owner could. */
export const signDelegation = (
  account: PrivateKeyAccount,
  delegation: Omit<PlainDelegation, 'signature'>,
  chainId: number,
): Promise<Hex> =>
  account.signTypedData({
    domain: {
      name: 'DelegationManager',
      version: '1',
      chainId,
      verifyingContract: manager,
    },
    types: {
      Caveat: [
        { name: 'enforcer', type: 'address' },
        { name: 'terms', type: 'bytes' },
      ],
      Delegation: [
        { name: 'delegate', type: 'address' },
        { name: 'delegator', type: 'address' },
        { name: 'authority', type: 'bytes32' },
        { name: 'caveats', type: 'Caveat[]' },
        { name: 'salt', type: 'uint256' },
      ],
    },
    primaryType: 'Delegation',
    message: delegation,
  })

/** The key passes its permission on to another account, as it can offline. */
export async function passOn(
  key: PrivateKeyAccount,
  permission: Hex,
  delegate: Address,
): Promise<(payment: SignedPayment) => { to: Address; data: Hex }> {
  const [parent] = decodeContext(permission)
  if (!parent) throw new Error('no delegation')
  const authority = await readContract(reader, {
    address: manager,
    abi: managerAbi,
    functionName: 'getDelegationHash',
    args: [parent],
  })
  const child = { delegate, delegator: key.address, authority, salt: 1n }
  const unsigned = { ...child, caveats: [] }
  const signature = await signDelegation(key, unsigned, 31337)
  const context = encodeContext([{ ...unsigned, signature }, parent])
  return (payment) => redeem(context, captureCall({ payment }))
}

/** The manager's owner pauses it, or ends that. */
export async function setPaused(isPaused: boolean): Promise<void> {
  await setBalance(node, { address: managerOwner, value: 10n ** 18n })
  await node.sendUnsignedTransaction({
    from: managerOwner,
    to: manager,
    data: encodeFunctionData({
      abi: managerAbi,
      functionName: isPaused ? 'pause' : 'unpause',
    }),
  })
  await mine(node, { blocks: 1 })
}
