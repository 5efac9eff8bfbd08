import { startDevChain } from 'countersign/devchain'
import {
  type Abi,
  type Address,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  type PrivateKeyAccount,
  parseEventLogs,
  zeroHash,
} from 'viem'
import {
  readContract,
  simulateContract,
  waitForTransactionReceipt,
  writeContract,
} from 'viem/actions'
import { channelsStandInArtifact } from '../../../src/devchain/contracts/ChannelsStandIn.generated.js'
import { domainOf, fundedAccount, newAccount, randomHash } from './desk.js'
import { abi as tokenAbi } from './twinTokens.js'

/** Where x402 publishes the contract of the channels. */
export const channelContract: Address =
  '0x4020074e9dF2ce1deE5A9C1b5c3f541D02a10003'

/** Where x402 publishes the collector of deposits by EIP-3009. */
export const depositCollector: Address =
  '0x4020806089470a89826cB9fB1f4059150b550004'

export const channelAbi: Abi = channelsStandInArtifact.abi

/** A chain with Circle's own token and the contracts of channels. */
export const chain: Awaited<ReturnType<typeof startDevChain>> =
  await startDevChain({ token: 'usdc', blockTime: 0, channels: true })

const { public: reader, relayer } = chain.clients

export type ChannelConfig = {
  payer: Address
  payerAuthorizer: Address
  receiver: Address
  receiverAuthorizer: Address
  token: Address
  withdrawDelay: number
  salt: Hex
}

/** A channel, and the keys of its four roles. */
export type Channel = {
  config: ChannelConfig
  id: Hex
  payer: PrivateKeyAccount
  receiver: PrivateKeyAccount
  authorizer: PrivateKeyAccount
}

const fieldsOf = (text: string) =>
  text.split(', ').map((field) => {
    const [type = '', name = ''] = field.split(' ')
    return { type, name }
  })

const types = {
  ChannelConfig: fieldsOf(
    'address payer, address payerAuthorizer, address receiver, address receiverAuthorizer, address token, uint40 withdrawDelay, bytes32 salt',
  ),
  Voucher: fieldsOf('bytes32 channelId, uint128 maxClaimableAmount'),
  Refund: fieldsOf('bytes32 channelId, uint256 nonce, uint128 amount'),
  ClaimBatch: fieldsOf('ClaimEntry[] claims'),
  ClaimEntry: fieldsOf(
    'bytes32 channelId, uint128 maxClaimableAmount, uint128 totalClaimed',
  ),
}

const typedData = (
  primaryType: keyof typeof types,
  message: Record<string, unknown>,
) => ({
  domain: {
    name: 'x402 Batch Settlement',
    version: '1',
    chainId: 31337,
    verifyingContract: channelContract,
  },
  types,
  primaryType,
  message,
})

export const idOf = (config: ChannelConfig): Hex =>
  hashTypedData(typedData('ChannelConfig', config))

/** A channel of fresh accounts that nothing was deposited into. */
export async function newChannel(
  changes: Partial<ChannelConfig> = {},
  given: Partial<Pick<Channel, 'payer' | 'receiver' | 'authorizer'>> = {},
): Promise<Channel> {
  const payer = given.payer ?? (await fundedAccount(chain, 100_000_000n))
  const receiver = given.receiver ?? (await fundedAccount(chain))
  const authorizer = given.authorizer ?? newAccount()
  const config = {
    payer: payer.address,
    payerAuthorizer: payer.address,
    receiver: receiver.address,
    receiverAuthorizer: authorizer.address,
    token: chain.token,
    withdrawDelay: 900,
    salt: zeroHash,
    ...changes,
  }
  return { config, id: idOf(config), payer, receiver, authorizer }
}

/** A channel with 10 tokens. */
export async function openChannel(
  ...given: Parameters<typeof newChannel>
): Promise<Channel> {
  const channel = await newChannel(...given)
  await send(await depositCall(channel, 10_000_000n))
  return channel
}

export type Call = {
  functionName: string
  args: readonly unknown[]
  from?: PrivateKeyAccount | undefined
}

export async function depositCall(
  { config, id, payer }: Channel,
  amount: bigint,
): Promise<Call> {
  const salt = BigInt(randomHash())
  const nonce = keccak256(
    encodeAbiParameters([{ type: 'bytes32' }, { type: 'uint256' }], [id, salt]),
  )
  const validBefore = 2n ** 40n
  const signature = await payer.signTypedData({
    domain: domainOf(config.token, 'USD Coin'),
    types: {
      ReceiveWithAuthorization: fieldsOf(
        'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
      ),
    },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      from: config.payer,
      to: depositCollector,
      value: amount,
      validAfter: 0n,
      validBefore,
      nonce,
    },
  })
  const data = encodeAbiParameters(
    [
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'uint256' },
      { type: 'bytes' },
    ],
    [0n, validBefore, salt, signature],
  )
  const args = [config, amount, depositCollector, data]
  return { functionName: 'deposit', args }
}

export const signVoucher = (
  { id, payer }: Channel,
  ceiling: bigint,
  signer: PrivateKeyAccount = payer,
): Promise<Hex> =>
  signer.signTypedData(
    typedData('Voucher', { channelId: id, maxClaimableAmount: ceiling }),
  )

/** One row of a claim, signed by the payer unless told otherwise. */
export async function claimRow(
  channel: Channel,
  totalClaimed: bigint,
  given: { ceiling?: bigint; signature?: Hex } = {},
) {
  const { ceiling = totalClaimed } = given
  return {
    voucher: { channel: channel.config, maxClaimableAmount: ceiling },
    signature: given.signature ?? (await signVoucher(channel, ceiling)),
    totalClaimed,
  }
}

export type ClaimRow = Awaited<ReturnType<typeof claimRow>>

export const signClaims = (
  signer: PrivateKeyAccount,
  rows: readonly ClaimRow[],
): Promise<Hex> =>
  signer.signTypedData(
    typedData('ClaimBatch', {
      claims: rows.map(({ voucher, totalClaimed }) => ({
        channelId: idOf(voucher.channel),
        maxClaimableAmount: voucher.maxClaimableAmount,
        totalClaimed,
      })),
    }),
  )

export const signRefund = (
  signer: PrivateKeyAccount,
  message: { channelId: Hex; nonce: bigint; amount: bigint },
): Promise<Hex> => signer.signTypedData(typedData('Refund', message))

/** Sends and mines a call of the contract; its own events by name. */
export async function send({ from = relayer.account, ...call }: Call) {
  const hash = await writeContract(relayer, {
    address: channelContract,
    abi: channelAbi,
    account: from,
    ...call,
  })
  const receipt = await waitForTransactionReceipt(reader, { hash })
  const own = receipt.logs.filter(
    ({ address }) => address === channelContract.toLowerCase(),
  )
  const events = parseEventLogs({ abi: channelAbi, logs: own }).map(
    ({ eventName, args }) => ({ eventName, args }),
  )
  return { status: receipt.status, gas: Number(receipt.gasUsed), events }
}

/** The name of the error that a call reverts with, or the token's own text. */
export const refusal = ({
  from = relayer.account,
  ...call
}: Call): Promise<unknown> =>
  simulateContract(reader, {
    address: channelContract,
    abi: channelAbi,
    account: from,
    ...call,
  }).then(
    () => 'no error',
    (error) => {
      const { data, reason } = error.walk(
        (cause: Error) => cause.name === 'ContractFunctionRevertedError',
      )
      return data && data.errorName !== 'Error' ? data.errorName : reason
    },
  )

/** Calls a view of the contract. */
export const view = (
  functionName: string,
  args: readonly unknown[],
): Promise<unknown> =>
  readContract(reader, {
    address: channelContract,
    abi: channelAbi,
    functionName,
    args,
  })

export const encodeCall = ({ functionName, args }: Call): Hex =>
  encodeFunctionData({ abi: channelAbi, functionName, args })

export const balanceOf = (account: Address): Promise<unknown> =>
  readContract(reader, {
    address: chain.token,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [account],
  })
