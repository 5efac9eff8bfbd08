import type { Address, Client, Hex } from 'viem'
import { UnsupportedTokenError } from '../chain/rpc/errors.js'
import { isWord } from '../chain/state/executor.js'
import { prober } from '../chain/state/getToken.js'
import {
  parseDecimals,
  parseTokenDomain,
  tokenProbes,
} from '../chain/state/probeToken.js'
import { runCalls } from '../chain/state/runCalls.js'
import { runCreated } from '../chain/state/runCreated.js'
import { checkMembers, type MembersOf } from '../core/checkMembers.js'
import { checkClock, parseTime } from '../core/clock.js'
import { parseCheckedAddress } from '../core/parseCheckedAddress.js'
import { word } from '../core/words.js'
import {
  type BuildPermitPaymentParameters,
  buildPermitPayment,
} from './buildPermitPayment.js'
import type { PermitPayment } from './types.js'

/** What {@link preparePermitPayment} takes. */
export type PreparePermitPaymentParameters = Omit<
  BuildPermitPaymentParameters,
  'domain' | 'decimals' | 'nonce' | 'now'
> & {
  /** Address of the token contract. */
  token: Address
  /** Unix seconds, to compare the chain's clock with. @default the wall clock */
  now?: bigint | undefined
}

const members: MembersOf<PreparePermitPaymentParameters> = {
  token: true,
  from: true,
  to: true,
  atMost: true,
  operator: true,
  validBefore: true,
  now: true,
}

/**
 * `PERMIT_TYPEHASH` of DAI and its like: their permit allows everything or
 * nothing, so it cannot have a ceiling.
 */
const daiTypeHash: Hex =
  '0xea2aa0a1be11a07ed86d755c93467f4f82362b452371d1ba94d1715123511acb'

/** Of `nonces(address)` and `PERMIT_TYPEHASH()`. */
const selectors = { nonces: '7ecebe00', typeHash: '30adf81f' } as const

/**
 * Builds a permit payment with the domain, decimals and permit nonce that the
 * token has, and the time of the chain, in one request.
 *
 * Nothing is reserved. Does not check whether the checkout contract of
 * recipient and operator is deployed: `verifyPayment` does.
 *
 * @throws {@link UnsupportedTokenError} when the token has no permit of
 * EIP-2612, or the one of DAI.
 * @throws {@link DomainMismatchError} when the token's domain cannot be proven.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120
 * s.
 * @throws {@link InvalidAmountError} {@link InvalidFieldError} when a parameter
 * is malformed.
 * @throws {@link NodeError} when the node does not answer.
 *
 * @example
 * ```ts
 * import { preparePermitPayment } from 'countersign/checkout'
 * import type { Address, PublicClient } from 'viem'
 *
 * const draft = (client: PublicClient, token: Address) =>
 *   preparePermitPayment(client, {
 *     token,
 *     from: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
 *     to: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *     atMost: '50.00',
 *   })
 * ```
 */
export async function preparePermitPayment(
  client: Client,
  parameters: PreparePermitPaymentParameters,
): Promise<PermitPayment> {
  checkMembers(parameters, members)
  const { token: given, now, ...fields } = parameters
  const token = parseCheckedAddress(given, 'token')
  const payer = parseCheckedAddress(fields.from, 'from')
  const wallClock = parseTime(now)
  const ask = (data: string) => ({ target: token, data, gas: 100_000 })
  const { head, calls } = await runCalls(client, {
    from: prober,
    block: 'latest',
    // No fees: without overrides, the prober has no balance.
    fees: {},
    fallback: runCreated,
    calls: {
      ...tokenProbes(token, prober),
      nonces: ask(selectors.nonces + word(payer)),
      typeHash: ask(selectors.typeHash),
    },
  })
  checkClock(head, wallClock)
  const { nonces, domainSeparator, typeHash } = calls
  if (typeHash.data === daiTypeHash)
    throw new UnsupportedTokenError({
      token,
      problem: 'has the permit of DAI, which cannot have a ceiling',
    })
  if (!isWord(nonces) || !isWord(domainSeparator))
    throw new UnsupportedTokenError({
      token,
      problem: 'has no permit (EIP-2612)',
    })
  return buildPermitPayment({
    ...fields,
    domain: parseTokenDomain(calls, { chainId: head.chainId, token }),
    decimals: parseDecimals(calls.decimals),
    nonce: BigInt(nonces.data),
    now: head.timestamp,
  })
}
