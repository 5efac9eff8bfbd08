import type { PendingSettlementStore } from '@x402/core/facilitator'
import type { Channel, ChannelStorage } from '@x402/evm/batch-settlement/server'
import {
  channelStorage,
  pendingSettlementStore,
  type X402Channel,
  type X402ChannelStorage,
} from 'countersign/x402'
import { expectTypeOf, test } from 'vitest'

test('the stock server takes our storage of channels, and has the same record', () => {
  expectTypeOf(channelStorage).returns.toEqualTypeOf<X402ChannelStorage>()
  expectTypeOf<X402ChannelStorage>().toExtend<ChannelStorage>()
  expectTypeOf<X402Channel>().toExtend<Channel>()
  expectTypeOf<Channel>().toExtend<X402Channel>()
})

test('the stock facilitator takes our store of pending settlements', () => {
  expectTypeOf(
    pendingSettlementStore,
  ).returns.toExtend<PendingSettlementStore>()
})
