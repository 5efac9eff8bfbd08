import type { Address, Hex } from 'viem'
import type { VerifiedAt } from '../../core/types.js'

/** Why a permission cannot be charged. */
export type SpendPermissionRefusal =
  /** The signature is not bytes in hex. */
  | 'malformedSignature'
  /**
   * The permission is for another chain than the expected one, or than the
   * node's.
   */
  | 'wrongChain'
  | 'wrongManager'
  /**
   * Another account than the expected one would charge and receive the tokens.
   */
  | 'wrongSpender'
  | 'wrongToken'
  | 'wrongAccount'
  | 'wrongAllowance'
  | 'wrongPeriod'
  | 'wrongStart'
  | 'wrongSalt'
  | 'wrongExtraData'
  /** The end of the permission has passed. */
  | 'expired'
  /** The permission ends before the expected `minEnd`. */
  | 'endsTooSoon'
  /** Account or spender revoked the permission, which cannot be undone. */
  | 'revoked'
  /** The wallet does not accept the signature. */
  | 'wrongSigner'
  /** The account has no code, and the signature does not deploy it. */
  | 'walletNotDeployed'
  /**
   * The wallet is not deployed, and the chain lacks the contract through which
   * the manager deploys wallets.
   */
  | 'verifierNotDeployed'
  /** The code of the wallet is not in `implementations`. */
  | 'unknownWallet'
  /**
   * The signature would deploy a wallet from a factory that is not in
   * `factories`.
   */
  | 'unknownFactory'
  /** The manager is not an owner of the wallet, so it cannot charge it. */
  | 'managerNotOwner'
  /** The period's allowance does not cover the charge. */
  | 'allowanceUsed'
  | 'insufficientFunds'
  | 'paused'
  /** The token blocks the account or the spender. */
  | 'blocked'
  /** There is no `SpendPermissionManager` contract at this address. */
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
       * What was simulated. `charge`: the approval and a first charge.
       * `approval`: only the approval, because the first period has not begun
       * or the node cannot override state.
       */
      rehearsed: 'charge' | 'approval'
    }
  | {
      ok: false
      reason: SpendPermissionRefusal
      /** Facts for a log line: found and expected value, or an error text. */
      details: Readonly<Record<string, unknown>>
      /** The block of the simulation. Absent if the message alone decided. */
      at?: VerifiedAt
    }

/**
 * What the merchant expects of the permission. Take it from your own database,
 * never from the request that brought the permission.
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
   * Amount of the first charge to simulate: a decimal of at most the allowance.
   * @default the allowance
   */
  amount?: string | undefined
  /**
   * Chain of the permission. @default the chain of the client, or else that of
   * the node
   */
  chainId?: number | undefined
  /** The payer's wallet, if you know it. */
  account?: Address | undefined
  /** First second of the first period, if you chose it. */
  start?: bigint | undefined
  /** Earliest accepted `end` of the permission, in Unix seconds. */
  minEnd?: bigint | undefined
  /** Expected `salt`, if you chose it. */
  salt?: bigint | undefined
  /** Expected `extraData`. @default any */
  extraData?: Hex | undefined
  /**
   * Expected address of the manager contract. @default the address that Base
   * publishes
   */
  manager?: Address | undefined
}

export type SpendPermissionProblem = {
  reason: SpendPermissionRefusal
  details: Readonly<Record<string, unknown>>
}
