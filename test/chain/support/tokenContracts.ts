import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  concatHex,
  type Hex,
  hashDomain,
  hexToBigInt,
  keccak256,
  maxUint256,
  numberToHex,
  slice,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import {
  getBlock,
  readContract,
  setNextBlockTimestamp,
  simulateContract,
  writeContractSync,
} from 'viem/actions'
import { afterAll } from 'vitest'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import type { TokenDomain } from '../../../src/core/types.js'
import { deployDevContract } from '../../../src/devchain/deployDevContract.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import { startDevChain } from '../../../src/devchain/startDevChain.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const { public: client, merchant, relayer, test: node } = chain.clients
export const abi: Abi = devContracts.fiatTokenV2_2.abi
export const usdc = await tokenAt(chain.token)

export const invalid = 'FiatTokenV2: invalid signature'
export const spent = 'FiatTokenV2: authorization is used or canceled'
export const notPayee = 'FiatTokenV2: caller must be the payee'
export const blocked = 'Blacklistable: account is blacklisted'
export const forms = ['v, r, s', 'bytes'] as const
export type Form = (typeof forms)[number]

type Token = { address: Address; abi: Abi; domain: TokenDomain }
type Typed = { primaryType: keyof typeof typedDataTypes; message: object }
type Wallet = typeof merchant

export async function tokenAt(address: Address, version = '2', of = abi) {
  const name = await readContract(client, {
    address,
    abi,
    functionName: 'name',
  })
  const domain = {
    name: String(name),
    version,
    chainId: 31337,
    verifyingContract: address,
  }
  return { address, abi: of, domain } satisfies Token
}

export async function freshPayer(
  value = 10_000_000n,
): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: payer.address, value })
  return payer
}

export function payment(
  from: Address,
  changes: Partial<ReturnType<typeof base>> = {},
) {
  return { ...base(from), ...changes }
}

function base(from: Address) {
  return {
    from,
    to: merchant.account.address as Address,
    value: 1_000_000n,
    validAfter: 0n,
    validBefore: maxUint256,
    nonce: keccak256(generatePrivateKey()),
  }
}

export function sign(
  signer: PrivateKeyAccount,
  { primaryType, message }: Typed,
  domain: object = usdc.domain,
): Promise<Hex> {
  const typed = { domain, types: typedDataTypes, primaryType, message }
  return signer.signTypedData(
    typed as Parameters<typeof signer.signTypedData>[0],
  )
}

export function split(signature: Hex): [number, Hex, Hex] {
  return [
    Number(slice(signature, 64, 65)),
    slice(signature, 0, 32),
    slice(signature, 32, 64),
  ]
}

export function signatureArgs(signature: Hex, form: Form): unknown[] {
  return form === 'bytes' ? [signature] : split(signature)
}

type Send = {
  token?: Token
  by?: Wallet
  at?: bigint
  functionName: string
  args: readonly unknown[]
}

/** Mines the call; tells how it ended: 'success', the reason or error name. */
export async function send({ token = usdc, by = merchant, at, ...call }: Send) {
  if (at !== undefined) await setNextBlockTimestamp(node, { timestamp: at })
  const request = { address: token.address, abi: token.abi, ...call }
  const receipt = await writeContractSync(by, {
    ...request,
    gas: 500_000n,
    throwOnReceiptRevert: false,
  })
  if (receipt.status === 'success') return { result: 'success', receipt }
  const { timestamp: time } = await getBlock(client)
  const result = await simulateContract(client, {
    ...request,
    account: by.account,
    blockOverrides: { time },
  }).then(() => 'agreed in a simulation', revertReason)
  return { result, receipt }
}

function revertReason(error: unknown): string {
  const revert =
    error instanceof BaseError
      ? error.walk((it) => it instanceof ContractFunctionRevertedError)
      : undefined
  if (!(revert instanceof ContractFunctionRevertedError)) return String(error)
  // viem puts words of its own where a revert carries no data.
  if (revert.raw === undefined || revert.raw === '0x') return 'no reason'
  return revert.reason ?? revert.data?.errorName ?? revert.raw
}

type Capture = {
  functionName?: 'receiveWithAuthorization' | 'transferWithAuthorization'
  message: ReturnType<typeof base>
  signature: Hex
  form?: Form
} & Pick<Send, 'token' | 'by' | 'at'>

export function capture({
  functionName = 'receiveWithAuthorization',
  message: { from, to, value, validAfter, validBefore, nonce },
  signature,
  form = 'bytes',
  ...rest
}: Capture) {
  const args = [from, to, value, validAfter, validBefore, nonce]
  args.push(...(signatureArgs(signature, form) as Hex[]))
  return send({ functionName, args, ...rest })
}

export const receive = (message: object) =>
  ({ primaryType: 'ReceiveWithAuthorization', message }) as const
export const transfer = (message: object) =>
  ({ primaryType: 'TransferWithAuthorization', message }) as const
const cancelation = (authorizer: Address, nonce: Hex) =>
  ({
    primaryType: 'CancelAuthorization',
    message: { authorizer, nonce },
  }) as const

export async function cancel(
  signer: PrivateKeyAccount,
  nonce: Hex,
  {
    form = 'bytes',
    token = usdc,
    authorizer = signer.address,
  }: {
    form?: Form
    token?: Token
    authorizer?: Address
  } = {},
) {
  const typed = cancelation(authorizer, nonce)
  const signature = await sign(signer, typed, token.domain)
  const args = [authorizer, nonce, ...signatureArgs(signature, form)]
  return send({ token, by: relayer, functionName: 'cancelAuthorization', args })
}

/** A fresh payer's payment, signed to be received by the merchant. */
export async function signed(
  changes: Partial<ReturnType<typeof base>> = {},
  funds?: bigint,
) {
  const payer = await freshPayer(funds)
  const message = payment(payer.address, changes)
  const signature = await sign(payer, receive(message))
  return { payer, message, signature }
}

export async function read(
  functionName: string,
  args: readonly unknown[] = [],
  token: Token = usdc,
) {
  const { address } = token
  return readContract(client, {
    address,
    abi: token.abi,
    functionName,
    args,
  }).catch(revertReason)
}

export function separatorOf({ chainId, ...domain }: TokenDomain): Hex {
  return hashDomain({
    domain: { ...domain, chainId: BigInt(chainId) },
    types: typedDataTypes,
  })
}

export const now = async () => (await getBlock(client)).timestamp

export function highS(signature: Hex): Hex {
  const n = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const [v, r, s] = split(signature)
  const twin = numberToHex(n - hexToBigInt(s), { size: 32 })
  return concatHex([r, twin, numberToHex(v === 27 ? 28 : 27, { size: 1 })])
}

export async function delegate(
  account: PrivateKeyAccount,
  contract: { abi: Abi; bytecode: Hex },
) {
  const contractAddress = await deployDevContract(chain, { contract })
  const authorization = await account.signAuthorization({
    contractAddress,
    chainId: 31337,
    nonce: 0,
  })
  const authorizationList = [authorization]
  const to = account.address
  await relayer.sendTransaction({ to, authorizationList, gas: 200_000n })
}
