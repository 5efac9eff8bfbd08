import type { X402Channel } from 'countersign/x402'
import { drawAddress, drawHash } from '../../storeCases/samples.js'

/** A channel as the stock server records it, with a request in work. */
export function stockChannel(facts: Partial<X402Channel> = {}): X402Channel {
  return {
    channelId: drawHash(),
    channelConfig: {
      payer: drawAddress(),
      payerAuthorizer: drawAddress(),
      receiver: drawAddress(),
      receiverAuthorizer: drawAddress(),
      token: drawAddress(),
      withdrawDelay: 900,
      salt: drawHash(),
    },
    chargedCumulativeAmount: '0',
    signedMaxClaimable: '10000',
    signature: `0x${'ab'.repeat(65)}`,
    balance: '100000',
    totalClaimed: '0',
    withdrawRequestedAt: 0,
    refundNonce: 0,
    onchainSyncedAt: 1_750_000_000_000,
    lastRequestTimestamp: 1_750_000_000_001,
    pendingRequest: {
      pendingId: 'one',
      signedMaxClaimable: '10000',
      expiresAt: 1_750_000_300_000,
    },
    ...facts,
  }
}

/** Adds to what a channel was charged. */
export const charge =
  (amount: bigint) =>
  (current: X402Channel | undefined): X402Channel | undefined =>
    current && {
      ...current,
      chargedCumulativeAmount: String(
        BigInt(current.chargedCumulativeAmount) + amount,
      ),
    }
