import type { Address, Client, Hex } from 'viem'
import { parseBlock } from '../../chain/logs/encodeLogFilter.js'
import type { BlockSelector } from '../../chain/rpc/requestNode.js'
import { checkMembers } from '../../core/checkMembers.js'
import { checkClock, parseTime } from '../../core/clock.js'
import { InvalidFieldError, shown } from '../../core/errors.js'
import { parseCheckedAddress } from '../../core/parseCheckedAddress.js'
import { normalizeSignature, unwrapSignature } from '../../core/signature.js'
import { checkPermission, parseExpectation } from './checkPermission.js'
import { firstValue, judgePermission } from './judgePermission.js'
import { parseSpendPermission } from './parseSpendPermission.js'
import { rehearsePermission } from './rehearsePermission.js'
import type { SpendPermission } from './types.js'
import type {
  SpendPermissionExpectation,
  SpendPermissionVerdict,
} from './verdict.js'
import { baseFactories, baseImplementations } from './walletCode.js'

/** Parameters of {@link verifySpendPermission}. */
export type VerifySpendPermissionParameters = {
  permission: SpendPermission
  signature: Hex
  expect: SpendPermissionExpectation
  /** The block at which to verify. @default 'latest' */
  block?: BlockSelector | undefined
  /** Most gas that one charge may use. @default 300_000n */
  maxChargeGas?: bigint | undefined
  /**
   * Accepted wallet implementations (the contracts behind wallet proxies). In
   * your transaction, the manager calls the payer's wallet, so unknown code
   * could run at your cost. @default Base Account's versions 1 and 1.1
   */
  implementations?: readonly Address[] | undefined
  /**
   * Accepted factories, which deploy the wallets of payers that have none on
   * chain yet. @default Base Account's versions 1 and 1.1
   */
  factories?: readonly Address[] | undefined
  /**
   * Present time in Unix seconds, compared with the chain's clock. @default the
   * wall clock
   */
  now?: bigint | undefined
}

/** Most gas that a charge may use, by default. */
const defaultMaxChargeGas = 300_000n

/**
 * Verifies a signed permission by simulating its approval and a first charge.
 * The manager's own code then checks signature, period and allowance, and the
 * payer's wallet and the token make the transfer. Also checks that the wallet
 * runs known code and that the manager is one of its owners.
 *
 * A passing verdict holds for the block of the simulation: the payer can spend
 * the funds or revoke the permission at any time. The node sees the signature.
 *
 * @throws {@link InvalidFieldError} {@link InvalidAmountError} when permission,
 * expectation or block are malformed.
 * @throws {@link ClockSkewError} when chain and wall clock differ by over 120 s.
 * @throws {@link NodeError} when the node does not answer.
 * @throws {@link NodeAnswerError} when its answer is malformed.
 *
 * @example
 * ```ts
 * import { type SignedSpendPermission, verifySpendPermission } from 'countersign/subscriptions'
 * import { createPublicClient, http } from 'viem'
 * import { base } from 'viem/chains'
 *
 * const client = createPublicClient({ chain: base, transport: http() })
 *
 * export async function judge({ permission, signature }: SignedSpendPermission) {
 *   const verdict = await verifySpendPermission(client, {
 *     permission,
 *     signature,
 *     expect: {
 *       spender: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
 *       token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
 *       allowance: '9.99',
 *       period: 30n * 86_400n,
 *     },
 *   })
 *   return verdict.ok ? 'accepted' : verdict.reason
 * }
 * ```
 */
export async function verifySpendPermission(
  client: Client,
  parameters: VerifySpendPermissionParameters,
): Promise<SpendPermissionVerdict> {
  checkMembers(parameters, [
    'permission',
    'signature',
    'expect',
    'block',
    'maxChargeGas',
    'implementations',
    'factories',
    'now',
  ])
  const given: VerifySpendPermissionParameters = Object(parameters)
  checkMembers(
    given.expect,
    [
      'spender',
      'token',
      'allowance',
      'period',
      'amount',
      'chainId',
      'account',
      'start',
      'minEnd',
      'salt',
      'extraData',
      'manager',
    ],
    'expect',
  )
  const { maxChargeGas = defaultMaxChargeGas } = given
  const block = parseBlock(given.block ?? 'latest')
  const now = parseTime(given.now)
  const permission = parseSpendPermission(given.permission)
  const expect = parseExpectation(given.expect, client.chain?.id)
  const signature = normalizeSignature(given.signature)
  const inner = signature && unwrapSignature(signature)
  const problem = checkPermission(permission, inner, expect)
  if (problem || !signature)
    return { ok: false, reason: 'malformedSignature', details: {}, ...problem }

  const rehearsed = await rehearsePermission(client, {
    permission,
    signature,
    value: firstValue(permission, expect),
    block,
    maxGas: maxChargeGas,
  })
  const { head } = rehearsed.answers
  if (block === 'latest' || block === 'pending') checkClock(head, now)
  return judgePermission(permission, rehearsed, {
    expect,
    maxGas: maxChargeGas,
    implementations: parseList(
      given.implementations ?? baseImplementations,
      'implementations',
    ),
    factories: parseList(given.factories ?? baseFactories, 'factories'),
  })
}

function parseList(given: readonly Address[], field: string): Address[] {
  if (!Array.isArray(given))
    throw new InvalidFieldError(field, shown(given), 'a list of addresses')
  return given.map((one, index) =>
    parseCheckedAddress(one, `${field}[${index}]`),
  )
}
