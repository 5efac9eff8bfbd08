import type { SignedPayment } from 'countersign'
import {
  type ChannelConfig,
  hashChannelConfig,
  voucherTypedData,
} from 'countersign/channels'
import {
  type Address,
  encodeAbiParameters,
  type Hex,
  keccak256,
  type PrivateKeyAccount,
  toHex,
} from 'viem'
import { depositCollector } from '../../../src/channels/contract/channelDomain.js'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import { encodeHeader } from '../../../src/x402/wire/headers.js'
import { requiredBy } from './x402Desk.js'

type Json = Record<string, unknown>

/** The offer of the scheme batch-settlement in a 402. */
export const channelOfferOf = (response: Response) =>
  requiredBy(response).accepts.find(
    ({ scheme }: { scheme: string }) => scheme === 'batch-settlement',
  )

/** The channel of somebody under an offer. */
export function channelOf(
  payer: Address,
  { extra, payTo, asset, network }: Json & { extra: Json; network: string },
  changes: Partial<ChannelConfig> = {},
): { id: Hex; chainId: number; config: ChannelConfig } {
  const chainId = Number(network.split(':')[1])
  const config = {
    payer,
    payerAuthorizer: payer,
    receiver: payTo as Address,
    receiverAuthorizer: extra.receiverAuthorizer as Address,
    token: asset as Address,
    withdrawDelay: extra.withdrawDelay as number,
    salt: `0x${'00'.repeat(32)}` as const,
    ...changes,
  }
  return { id: hashChannelConfig({ config, chainId }), chainId, config }
}

/** What {@link signChannel} signs. Amounts in base units. */
export type Signing = {
  max: bigint
  /** Makes the payload one with a deposit. */
  deposit?: bigint | undefined
  /** Who signs the voucher. Default: the payer. */
  signer?: PrivateKeyAccount | undefined
  config?: Partial<ChannelConfig> | undefined
  /** Members of the deposit's message that are signed. */
  message?: Json | undefined
  /** Changes a payload that is signed already. */
  spoil?: ((payload: Json) => Json) | undefined
  /** Changes the offer that the client says it accepted. */
  accept?: ((accepted: Json) => Json) | undefined
}

let salts = 0

/** The payment header of a client that signs by hand, not by a package. */
export async function signChannel(
  account: PrivateKeyAccount,
  response: Response,
  { max, deposit, signer = account, spoil, accept, ...given }: Signing,
): Promise<string> {
  const offer = channelOfferOf(response)
  const { id, chainId, config } = channelOf(
    account.address,
    offer,
    given.config,
  )
  const voucher = { channelId: id, maxClaimable: max }
  const payload: Json = {
    type: deposit === undefined ? 'voucher' : 'deposit',
    channelConfig: config,
    voucher: {
      channelId: id,
      maxClaimableAmount: String(max),
      signature: await signer.signTypedData(
        voucherTypedData({ chainId, voucher }) as unknown as Parameters<
          typeof signer.signTypedData
        >[0],
      ),
    },
    ...(deposit !== undefined && {
      deposit: await signDeposit(account, offer, { id, deposit, ...given }),
    }),
  }
  return encodeHeader({
    x402Version: 2,
    resource: requiredBy(response).resource,
    accepted: accept?.(offer) ?? offer,
    payload: spoil?.(payload) ?? payload,
  })
}

/** A deposit of a payer into its channel, as the gate makes it of a payload. */
export async function signedDeposit(
  account: PrivateKeyAccount,
  response: Response,
  value: bigint,
  changes: Partial<ChannelConfig> = {},
): Promise<{ payment: SignedPayment; salt: Hex }> {
  const offer = channelOfferOf(response)
  const { id, chainId, config } = channelOf(account.address, offer, changes)
  const { authorization } = await signDeposit(account, offer, {
    id,
    deposit: value,
  })
  const { salt, signature, ...window } = Object(authorization)
    .erc3009Authorization as Record<string, string>
  const words = [{ type: 'bytes32' }, { type: 'uint256' }] as const
  const nonce = keccak256(
    encodeAbiParameters(words, [id, BigInt(salt as string)]),
  )
  return {
    salt: salt as Hex,
    payment: {
      primaryType: 'ReceiveWithAuthorization',
      domain: {
        name: offer.extra.name,
        version: offer.extra.version,
        chainId,
        verifyingContract: config.token.toLowerCase() as Address,
      },
      message: {
        from: account.address.toLowerCase() as Address,
        to: depositCollector,
        value,
        validAfter: BigInt(window.validAfter as string),
        validBefore: BigInt(window.validBefore as string),
        nonce,
      },
      signature: signature as Hex,
    },
  }
}

async function signDeposit(
  account: PrivateKeyAccount,
  { extra, asset, network }: Json & { extra: Json; network: string },
  {
    id,
    deposit,
    message = {},
  }: { id: Hex; deposit: bigint; message?: Json | undefined },
): Promise<Json> {
  const salt = toHex(++salts, { size: 32 })
  const words = [{ type: 'bytes32' }, { type: 'uint256' }] as const
  const nonce = keccak256(encodeAbiParameters(words, [id, BigInt(salt)]))
  const now = BigInt(Math.floor(Date.now() / 1000))
  const signed = {
    from: account.address,
    to: depositCollector,
    value: deposit,
    validAfter: 0n,
    validBefore: now + 300n,
    nonce,
    ...message,
  }
  const { validAfter, validBefore } = signed
  const signature = await account.signTypedData({
    domain: {
      name: extra.name,
      version: extra.version,
      chainId: Number(network.split(':')[1]),
      verifyingContract: asset,
    },
    types: typedDataTypes,
    primaryType: 'ReceiveWithAuthorization',
    message: signed,
  } as unknown as Parameters<typeof account.signTypedData>[0])
  return {
    amount: String(deposit),
    authorization: {
      erc3009Authorization: {
        validAfter: String(validAfter),
        validBefore: String(validBefore),
        salt,
        signature,
      },
    },
  }
}
