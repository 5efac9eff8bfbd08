import { expect, test } from 'vitest'
import type { ChannelRecord } from '../../store/types.js'
import { chargeChannel } from './chargeChannel.js'
import { copyChain } from './copyChain.js'
import { judgeVoucher } from './judgeVoucher.js'
import { newChannel } from './newChannel.js'

const address = `0x${'11'.repeat(20)}` as const
const word = `0x${'22'.repeat(32)}` as const

const channel: ChannelRecord = {
  ...newChannel(
    {
      id: word,
      chainId: 31337,
      token: address,
      recipient: address,
      payer: address,
      payerAuthorizer: address,
      receiverAuthorizer: address,
      withdrawDelay: 900,
      salt: word,
    },
    100n,
  ),
  state: 'open',
  balance: 1_000n,
  charged: 300n,
  claimed: 200n,
  version: 1,
  position: 1n,
}

const chain = {
  balance: 1_000n,
  claimed: 200n,
  withdrawal: undefined,
  refundNonce: 0n,
  at: { blockNumber: 5n, blockTime: 50n },
}

const judge = (
  changes: Partial<ChannelRecord>,
  maxClaimable: bigint,
  mostUnclaimed?: bigint,
) => {
  const asked = { maxClaimable, price: 10n }
  const verdict = judgeVoucher({ ...channel, ...changes }, asked, {
    mostUnclaimed,
  })
  return verdict.ok ? 'ok' : verdict.reason
}

test('a voucher pays for exactly the charges and the price', () => {
  expect(judge({}, 310n)).toBe('ok')
  expect(judge({}, 309n)).toBe('wrongAmount')
  expect(judge({}, 311n)).toBe('wrongAmount')
  expect(judge({}, 200n)).toBe('belowClaimed')
  expect(judge({ state: 'stopped' }, 310n)).toBe('stopped')
  expect(judge({ balance: 309n }, 310n)).toBe('exceedsBalance')
  const withdrawal = { state: 'stopped', reason: 'withdrawal' } as const
  expect(judge({ ...withdrawal, withdrawing: 690n }, 310n)).toBe('ok')
  expect(judge({ ...withdrawal, withdrawing: 691n }, 310n)).toBe('stopped')
  expect(judge({}, 310n, 109n)).toBe('tooMuchUnclaimed')
  expect(judge({}, 310n, 110n)).toBe('ok')
})

test('a charge is due after its time, and at once when much is owed', () => {
  const wanted = { value: 50n, maxClaimable: 350n, voucher: 's', now: 1_000n }
  const late = { claimAfter: 600n, claimAt: undefined }
  expect(chargeChannel(channel, wanted, late)).toMatchObject({
    charged: 350n,
    signed: 350n,
    unclaimedSince: 1_000n,
    due: 1_600n,
  })
  const large = { claimAfter: 600n, claimAt: 150n }
  expect(chargeChannel(channel, wanted, large).due).toBe(1_000n)
  const sooner = { ...channel, due: 7n }
  expect(chargeChannel(sooner, wanted, late).due).toBe(7n)
})

test('charges leave the time of a claim that may be on its way', () => {
  const wanted = { value: 50n, maxClaimable: 350n, voucher: 's', now: 1_000n }
  const policy = { claimAfter: 600n, claimAt: 150n }
  const claiming = { ...channel, unclaimedSince: 10n, due: 1_100n }
  expect(chargeChannel(claiming, wanted, policy).due).toBe(1_100n)
  const byAge = { ...policy, claimAt: undefined }
  expect(chargeChannel(claiming, wanted, byAge).due).toBe(1_100n)
  const later = { ...claiming, due: 1_500n }
  expect(chargeChannel(later, wanted, policy).due).toBe(1_000n)
})

test('after a claim, only later charges are owed, and no earlier than it', () => {
  const since = { ...channel, unclaimedSince: 10n, due: 1_100n }
  expect(copyChain(since, { ...chain, claimed: 250n })).toMatchObject({
    unclaimedSince: 50n,
    due: 0n,
  })
  const settled = { ...since, charged: 250n }
  expect(copyChain(settled, { ...chain, claimed: 250n })).toMatchObject({
    unclaimedSince: undefined,
    due: undefined,
  })
  // A reorganization undid the claim.
  const paid = { ...channel, claimed: 300n }
  expect(copyChain(paid, chain)).toMatchObject({ unclaimedSince: 50n, due: 0n })
})

test('the copy of the chain stops a channel that it does not cover', () => {
  const withdrawal = { value: 500n, initiatedAt: 40n }
  const withdrawn = { ...chain, withdrawal }
  expect(copyChain(channel, withdrawn)).toMatchObject({
    state: 'stopped',
    reason: 'withdrawal',
    withdrawableAt: 940n,
    due: 0n,
  })
  const known = { ...channel, withdrawing: 500n, due: 70n }
  const same = copyChain({ ...known, withdrawableAt: 940n }, withdrawn)
  expect(same.due).toBe(70n)
  // The payer has ended that one, and announced the next.
  const next = copyChain({ ...known, withdrawableAt: 930n }, withdrawn)
  expect(next).toMatchObject({ due: 0n, withdrawableAt: 940n })
  expect(copyChain(channel, { ...chain, balance: 299n })).toMatchObject({
    state: 'stopped',
    reason: 'uncovered',
  })
  expect(copyChain(channel, { ...chain, claimed: 350n })).toMatchObject({
    charged: 350n,
    claimed: 350n,
    unclaimedSince: undefined,
  })
})

test('a refund that a reorganization undid stops the channel again', () => {
  const refunded = { ...channel, balance: 300n, refundNonce: 1n }
  const undone = { state: 'stopped', reason: 'refund', due: 0n } as const
  expect(copyChain(refunded, chain)).toMatchObject(undone)
  const stopped = { ...refunded, state: 'stopped', reason: 'merchant' } as const
  expect(copyChain(stopped, chain).reason).toBe('merchant')
})

test('an older answer of the chain changes nothing, and no copy ends a stop', () => {
  const seen = { ...channel, seenBlock: 6n }
  expect(copyChain(seen, { ...chain, balance: 0n })).toBe(seen)
  const stopped = { ...channel, state: 'stopped', reason: 'merchant' } as const
  expect(copyChain(stopped, chain)).toMatchObject({ reason: 'merchant' })
  const refunding = { ...channel, state: 'stopped', reason: 'refund' } as const
  expect(copyChain(refunding, chain)).toMatchObject({ reason: 'refund' })
  expect(copyChain(refunding, { ...chain, refundNonce: 1n }).state).toBe('open')
})
