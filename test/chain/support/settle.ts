import {
  buildPayment,
  type Cancellation,
  cancelPayment,
  capturePayment,
  formatAmount,
  type Payment,
  type PaymentExpectation,
  type PaymentVerdict,
  type PrimaryType,
  type SignCancellationExpectation,
  type SignedCancellation,
  type SignedPayment,
  type SignPaymentExpectation,
  type TokenDomain,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import { type Address, type Client, erc20Abi } from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import { readContract } from 'viem/actions'

/** What is needed of a chain, whether it is for development or not. */
export type SettlingChain = Pick<
  DevChain,
  'chain' | 'token' | 'clients' | 'mint'
>

/** A token as far as these tests name it. */
export type SettledToken = {
  domain: TokenDomain
  decimals: number
  mint(to: Address, value: bigint): Promise<void>
}

/** The development chain's own token. */
export function tokenOf(chain: SettlingChain): SettledToken {
  return {
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: chain.chain.id,
      verifyingContract: chain.token,
    },
    decimals: 6,
    mint: (to, value) => chain.mint({ to, value }),
  }
}

/** A key nobody used before, with tokens. */
export async function freshPayer(
  token: SettledToken,
  value: bigint = 10n * 10n ** BigInt(token.decimals),
): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await token.mint(payer.address, value)
  return payer
}

/** 1.25 tokens from the payer to the merchant, with a window of an hour. */
export async function draft(
  chain: SettlingChain,
  token: SettledToken,
  {
    from,
    to = chain.clients.merchant.account.address,
    primaryType,
  }: { from: Address; to?: Address; primaryType?: PrimaryType },
): Promise<Payment> {
  const { timestamp } = await chain.clients.public.getBlock()
  return buildPayment({
    domain: token.domain,
    decimals: token.decimals,
    from,
    to,
    amount: '1.25',
    primaryType,
    now: timestamp,
    validBefore: timestamp + 3600n,
  })
}

/** What a page that shows this very payment expects to sign. */
export function pageOf(
  { domain, message, primaryType }: Payment,
  decimals = 6,
): SignPaymentExpectation {
  return {
    primaryType,
    maxWindow: message.validBefore,
    chainId: domain.chainId,
    token: domain.verifyingContract,
    to: message.to,
    amount: formatAmount(message.value, decimals),
    decimals,
  }
}

/** What a page that shows the end of this very payment expects to sign. */
export function cancelPageOf({
  domain,
  message,
}: Cancellation): SignCancellationExpectation {
  return {
    chainId: domain.chainId,
    token: domain.verifyingContract,
    name: domain.name,
    version: domain.version,
    from: message.authorizer,
    nonce: message.nonce,
  }
}

/** What the merchant of this very payment expects to be paid. */
export function orderOf(
  { domain, message, primaryType }: Payment,
  decimals = 6,
): PaymentExpectation {
  return {
    token: domain.verifyingContract,
    to: message.to,
    amount: formatAmount(message.value, decimals),
    primaryType,
  }
}

/** `'ok'`, or why the payment is refused. */
export async function verdictOf(
  { clients }: { clients: { public: Client } },
  payment: SignedPayment,
  decimals = 6,
): Promise<string> {
  const expect = orderOf(payment, decimals)
  const verdict: PaymentVerdict = await verifyPayment(clients.public, {
    payment,
    expect,
  })
  return verdict.ok ? 'ok' : verdict.reason
}

/**
 * Captures through the library and tells how it ended: an outcome's status, or
 * the reason of the error. Throws when a proven capture did not bring the
 * recipient the exact value.
 */
export async function captureOf(
  chain: SettlingChain,
  payment: SignedPayment,
): Promise<string> {
  const { public: client, merchant } = chain.clients
  const { to, value } = payment.message
  const token = payment.domain.verifyingContract
  const before = await balanceOf(chain, token, to)
  try {
    const hash = await capturePayment(merchant, { payment })
    const outcome = await waitForOutcome(client, { payment, hash })
    const gain = (await balanceOf(chain, token, to)) - before
    if (gain === (outcome.status === 'captured' ? value : 0n))
      return outcome.status
  } catch (error) {
    return reasonOf(error)
  }
  throw new Error('the outcome and the balance disagree')
}

/** Relays a cancellation and tells how the payment ended. */
export async function cancelOf(
  chain: SettlingChain,
  cancellation: SignedCancellation,
  payment: Payment,
): Promise<string> {
  const { public: client, relayer } = chain.clients
  try {
    const hash = await cancelPayment(relayer, { cancellation })
    return (await waitForOutcome(client, { payment, hash })).status
  } catch (error) {
    return reasonOf(error)
  }
}

export function balanceOf(
  { clients }: Pick<DevChain, 'clients'>,
  address: Address,
  account: Address,
): Promise<bigint> {
  return readContract(clients.public, {
    address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [account],
  })
}

/** The reason of a refusal; any other error is a failure of the test. */
function reasonOf(error: unknown): string {
  const { reason } = Object(error)
  if (typeof reason !== 'string') throw error
  return reason
}
