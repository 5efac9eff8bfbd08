import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { authorizationTypes, toFacilitatorEvmSigner } from '@x402/evm'
import {
  ExactEvmScheme,
  type ExactEvmSchemeConfig,
} from '@x402/evm/exact/facilitator'
import { decodePayment, type SignedPayment } from 'countersign'
import {
  type DevChain,
  deployDevContract,
  startDevChain,
} from 'countersign/devchain'
import {
  type Address,
  createWalletClient,
  getAddress,
  type Hex,
  http,
  type PrivateKeyAccount,
  publicActions,
} from 'viem'
import { compileSolidity } from './compileSolidity.js'
import { fundedAccount, randomHash } from './desk.js'

export const network = 'eip155:31337'

/** A chain with Circle's own contracts, and what stock facilitators ask. */
export async function startFacilitatorChain(): Promise<DevChain> {
  const chain = await startDevChain({ token: 'usdc', blockTime: 0 })
  const { Multicall } = compileSolidity(multicall)
  if (!Multicall) throw new Error('no contract')
  const address = await deployDevContract(chain, { contract: Multicall })
  const bytecode = await chain.clients.public.getCode({ address })
  await chain.clients.test.setCode({
    address: '0xcA11bde05977b3631167028862bE2a173976CA11',
    bytecode: bytecode ?? '0x',
  })
  return chain
}

/** The one function of Multicall3 that stock facilitators use. */
const multicall = `
contract Multicall {
  struct Call { address target; bytes callData; }
  struct Result { bool success; bytes returnData; }
  function tryAggregate(bool requireSuccess, Call[] calldata calls)
    external payable returns (Result[] memory results)
  {
    results = new Result[](calls.length);
    for (uint256 i = 0; i < calls.length; i++) {
      (results[i].success, results[i].returnData) = calls[i].target.call(calls[i].callData);
      require(results[i].success || !requireSuccess);
    }
  }
}`

/** The facilitator of `@x402/core` with the stock scheme. */
export async function openStock(
  chain: DevChain,
  config?: ExactEvmSchemeConfig,
  options?: { confirmationTimeoutMs: number },
): Promise<x402Facilitator> {
  const scheme = await openStockScheme(chain, config, options)
  return new x402Facilitator().register(network, scheme)
}

/** The exact scheme of `@x402/evm`, with an account of its own. */
export async function openStockScheme(
  chain: DevChain,
  config?: ExactEvmSchemeConfig,
  options?: { confirmationTimeoutMs: number },
): Promise<ExactEvmScheme> {
  const account = await fundedAccount(chain)
  const client = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  }).extend(publicActions)
  const signer = toFacilitatorEvmSigner(
    { ...client, address: account.address } as unknown as Parameters<
      typeof toFacilitatorEvmSigner
    >[0],
    options,
  )
  return new ExactEvmScheme(signer, config)
}

/** What a server of `@x402/core` sends to its facilitator. */
export type Sent = {
  paymentPayload: PaymentPayload
  paymentRequirements: PaymentRequirements
}

type Authorization = {
  from: Address
  to: Address
  value: string
  validAfter: string
  validBefore: string
  nonce: Hex
}

/** What a payment of the exact scheme differs in from a good one. */
export type SentChanges = {
  requirements?: Partial<PaymentRequirements>
  /** Changed before it is signed. */
  authorization?: Partial<Authorization>
  /** The domain that is signed under. */
  domain?: {
    name?: string
    version?: string
    chainId?: number
    token?: Address
  }
  signer?: PrivateKeyAccount
  resource?: string
}

/** What was sent, as a payment of ours. */
export function paymentOf(
  { token }: DevChain,
  { paymentPayload: { payload } }: Sent,
): SignedPayment {
  const payment = decodePayment({
    primaryType: 'TransferWithAuthorization',
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: token,
    },
    message: payload.authorization,
    signature: payload.signature,
  })
  if (!('signature' in payment)) throw new Error('not signed')
  return payment
}

export const price = 12_500_000n

/** What a server offers for 12.50. */
export function termsOf(
  chain: DevChain,
  payTo: Address,
  changes: Partial<PaymentRequirements> = {},
): PaymentRequirements {
  return {
    scheme: 'exact',
    network,
    asset: getAddress(chain.token),
    amount: String(price),
    payTo: getAddress(payTo),
    maxTimeoutSeconds: 300,
    extra: { name: 'USD Coin', version: '2' },
    ...changes,
  }
}

/** A payment as a stock client makes it, but for the changes. */
export async function sign402(
  chain: DevChain,
  payer: PrivateKeyAccount,
  payTo: Address,
  changes: SentChanges = {},
): Promise<Sent> {
  const paymentRequirements = termsOf(chain, payTo, changes.requirements)
  const { signer = payer, domain = {}, resource = '/weather' } = changes
  const now = Math.floor(Date.now() / 1000)
  const authorization: Authorization = {
    from: payer.address,
    to: getAddress(payTo),
    value: paymentRequirements.amount,
    validAfter: '0',
    validBefore: String(now + 300),
    nonce: randomHash(),
    ...changes.authorization,
  }
  const { name, version } = paymentRequirements.extra
  const signature = await signer.signTypedData({
    domain: {
      name: domain.name ?? String(name),
      version: domain.version ?? String(version),
      chainId: domain.chainId ?? 31337,
      verifyingContract: domain.token ?? chain.token,
    },
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      ...authorization,
      value: BigInt(authorization.value),
      validAfter: BigInt(authorization.validAfter),
      validBefore: BigInt(authorization.validBefore),
    },
  })
  return {
    paymentPayload: {
      x402Version: 2,
      resource: { url: `http://shop.example${resource}` },
      accepted: paymentRequirements,
      payload: { authorization, signature },
    },
    paymentRequirements,
  }
}
