import type { Address, Client } from 'viem'
import { hashDomain } from '../base/hashPayment.js'
import type { RefusalReason } from '../base/revertReason.js'
import { isWrappedSignature, unwrapSignature } from '../base/signature.js'
import { selectors } from '../base/tokenAbi.js'
import type {
  Cancellation,
  SignedCancellation,
  SignedPayment,
  TokenDomain,
} from '../base/types.js'
import { bytesWords, word } from '../base/words.js'
import { cancelCall } from '../build/cancelCall.js'
import { captureCall } from '../build/captureCall.js'
import { authorizationStateCall } from '../reads/getAuthorizationState.js'
import { forgetToken } from '../reads/getToken.js'
import type { BlockSelector } from '../reads/requestNode.js'
import { runCalls } from '../reads/runCalls.js'
import type { Call, CallAnswer, CallFees, RunAnswers } from '../reads/types.js'
import { judgeRehearsal } from './judgeRehearsal.js'

/** The block a verdict was reached at, and how. */
export type JudgedAt = {
  block: bigint
  /** Time of that block, Unix seconds. */
  time: bigint
  chainId: number
  /** `override`: one request. `calls`: the node ignores state overrides. */
  via: 'override' | 'calls'
}

export type Rehearsal =
  | {
      ok: true
      at: JudgedAt
      /** Gas of the transaction; unknown with `via: 'calls'`. */
      gasUsed?: bigint
      decimals: number
    }
  | {
      ok: false
      at: JudgedAt
      reason: RefusalReason
      /** The token's own words, where it had any. */
      words?: string
    }
