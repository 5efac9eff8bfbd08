import { afterEach, expect, test, vi } from 'vitest'
import { contextOver } from '../../../test/unit/support/contextOver.js'
import { memoryStore } from '../../store/memoryStore.js'
import { openAside } from '../loop/putAside.js'
import { openSubmitter } from './openSubmitter.js'
import { submitterKey } from './submitterState.js'

afterEach(() => {
  vi.useRealTimers()
})

test('a lease is renewed in time also when the clock is set back', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  const store = memoryStore()
  const takeLease = vi.spyOn(store, 'takeLease')
  const context = contextOver(store)
  const [wallet] = context.wallets
  if (!wallet) throw new Error('no wallet')
  const { submitter: about } = wallet
  const key = submitterKey(about)
  const aside = openAside(context, { key, observed: 'submitter.failed', about })
  const submitter = await openSubmitter(context, {
    wallet,
    submitter: undefined,
    aside,
  })
  vi.setSystemTime(Date.now() - 3_600_000)
  vi.advanceTimersByTime(context.policy.lease / 3 - 1)
  expect(await openSubmitter(context, { wallet, submitter, aside })).toBe(
    submitter,
  )
  expect(takeLease).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(await openSubmitter(context, { wallet, submitter, aside })).toBe(
    submitter,
  )
  expect(takeLease).toHaveBeenCalledTimes(2)
})
