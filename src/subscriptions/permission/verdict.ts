import type { Address, Hex } from 'viem'
import type { MembersOf } from '../../core/checkMembers.js'
import type { VerifiedAt } from '../../core/types.js'

/** Why a permission cannot be charged as it stands. */
export type SpendPermissionRefusal =
  /** Not a signature in hex. */
  | 'malformedSignature'
  /** Another chain than the expected one, or than the node's. */
  | 'wrongChain'
  | 'wrongManager'
  /** The tokens would go to another account. */
  | 'wrongSpender'
  | 'wrongToken'
  | 'wrongAccount'
  | 'wrongAllowance'
  | 'wrongPeriod'
  | 'wrongStart'
  | 'wrongSalt'
  | 'wrongExtraData'
  /** Its end has passed. */
  | 'expired'
  /** It ends before the expected time. */
  | 'endsTooSoon'
  /** Account or spender revoked it, for good. */
  | 'revoked'
  /** The wallet does not accept the signature. */
  | 'wrongSigner'
  /** The account has no code, and the signature does not deploy it. */
  | 'walletNotDeployed'
  /** The wallet has no code, and the chain lacks the contract to deploy it. */
  | 'verifierNotDeployed'
  /** The wallet runs code that is not on the list. */
  | 'unknownWallet'
  /** The signature would deploy a wallet from a factory not on the list. */
  | 'unknownFactory'
  /** The manager is not an owner of the wallet, so it cannot charge it. */
  | 'managerNotOwner'
  /** The period's allowance does not cover the charge. */
  | 'allowanceUsed'
  | 'insufficientFunds'
  | 'paused'
  /** The token blocks the account or the spender. */
  | 'blocked'
  /** The chain has no such manager at this address. */
  | 'unsupportedManager'
  /** The charge needs more gas than allowed. */
  | 'gasTooHigh'
  /** The charge fails for another reason; `details` may have the error text. */
  | 'simulationFailed'

/** Whether a permission can be charged, verified at one block. */
export type SpendPermissionVerdict =
  | {
      ok: true
      at: VerifiedAt
      /**
       * The transactions that were simulated. `charge`: approval and first
       * charge. `approval`: the approval alone, because the first period has not
       * begun or the node has no state overrides.
       */
      rehearsed: 'charge' | 'approval'
    }
  | {
      ok: false
      reason: SpendPermissionRefusal
      /** Facts for a log line: found and expected value, or an error text. */
      details: Readonly<Record<string, unknown>>
      /** Absent if the message alone decided. */
      at?: VerifiedAt
    }

/**
 * What the merchant expects. Take it from your own records, never from the
 * request.
 */
export type SpendPermissionExpectation = {
  /** Your account, which charges and receives the tokens. */
  spender: Address
  /** Address of the token contract. */
  token: Address
  /** Most that one period may cost: a decimal such as `'9.99'`. */
  allowance: string
  /** Seconds of one period. */
  period: bigint
  /**
   * First charge to rehearse: a decimal of at most the allowance. @default the
   * allowance
   */
  amount?: string | undefined
  /** @default the chain of the client, or else that of the node */
  chainId?: number | undefined
  /** The payer's wallet, if you know it. */
  account?: Address | undefined
  /** First second of the first period, if you chose it. */
  start?: bigint | undefined
  /** Earliest accepted end, Unix seconds. */
  minEnd?: bigint | undefined
  /** The salt, if you chose it. */
  salt?: bigint | undefined
  /** @default any */
  extraData?: Hex | undefined
  /** @default the address that Base publishes */
  manager?: Address | undefined
}

export const permissionExpectationMembers: MembersOf<SpendPermissionExpectation> =
  {
    spender: true,
    token: true,
    allowance: true,
    period: true,
    amount: true,
    chainId: true,
    account: true,
    start: true,
    minEnd: true,
    salt: true,
    extraData: true,
    manager: true,
  }

export type SpendPermissionProblem = {
  reason: SpendPermissionRefusal
  details: Readonly<Record<string, unknown>>
}
