import type { Address, Client } from 'viem'
import { UnsupportedTokenError } from '../../chain/rpc/errors.js'
import { getTokenAndHead } from '../../chain/state/getToken.js'
import { checkMembers } from '../../core/checkMembers.js'
import { checkClock, parseTime } from '../../core/clock.js'
import { drawPaymentNonce } from '../../core/drawPaymentNonce.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import type { Payment } from '../../core/types.js'
import { type BuildPaymentParameters, buildPayment } from './buildPayment.js'

/** Token, accounts, amount and window for {@link preparePayment}. */
export type PreparePaymentParameters = Omit<
  BuildPaymentParameters,
  'domain' | 'decimals' | 'now'
> & {
  /** Address of the token contract. */
  token: Address
  /**
   * Unix seconds with which the chain's clock is compared.
   * @default the wall clock
   */
  now?: bigint | undefined
}

/**
 * Builds a payment with the domain and decimals of the token and the time of
 * the chain. Needs one request; on nodes without state overrides the first call
 * needs two.
 *
 * Nothing is reserved: the payer can still move the funds before capture.
 *
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
 * s.
 * @throws {@link UnsupportedTokenError} when the token has no function for this
 * primary type.
 * @throws {@link DomainMismatchError} when the token's domain cannot be proven.
 * @throws {@link InvalidAmountError} {@link InvalidFieldError} as
 * `buildPayment`; also when an address is mistyped, or the node is on another
 * chain than the client.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed.
 *
 * @example
 * ```ts
 * import { preparePayment } from 'countersign'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 * const payment = await preparePayment(client, {
 *   token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *   from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *   to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *   amount: '12.50',
 * })
 * ```
 */
export async function preparePayment(
  client: Client,
  parameters: PreparePaymentParameters,
): Promise<Payment> {
  checkMembers(parameters, [
    'token',
    'from',
    'to',
    'amount',
    'primaryType',
    'now',
    'validAfter',
    'validBefore',
    'nonce',
  ])
  const { token, now: given, ...fields } = parameters
  const now = parseTime(given)
  parseCheckedAddress(fields.from, 'from')
  parseCheckedAddress(fields.to, 'to')
  const { token: found, head } = await getTokenAndHead(
    client,
    parseCheckedAddress(token, 'token'),
  )
  checkClock(head, now)
  const payment = buildPayment({
    ...fields,
    nonce: fields.nonce ?? drawPaymentNonce(),
    domain: found.domain,
    decimals: found.decimals,
    now: head.timestamp,
  })
  const { receive, transfer } = found.capabilities
  const settles =
    payment.primaryType === 'ReceiveWithAuthorization' ? receive : transfer
  if (!settles)
    throw new UnsupportedTokenError({
      token,
      problem: `cannot settle ${payment.primaryType}`,
    })
  const { chainId } = payment.domain
  const configured = client.chain?.id ?? chainId
  if (chainId !== head.chainId || chainId !== configured)
    throw new InvalidFieldError(
      'chainId',
      shown(head.chainId === configured ? chainId : head.chainId),
      `${configured}, the chain of the client`,
      "Correct the client's chain, or the URL of its node.",
    )
  return payment
}
