import type { DurableObjectStorage } from '@cloudflare/workers-types'
import { type DurableStorage, durableObjectStore } from 'countersign/durable'
import type { PaymentStore } from 'countersign/store'
import { expectTypeOf, test } from 'vitest'

test('the storage of a Durable Object fits, as Cloudflare types it', () => {
  expectTypeOf<DurableObjectStorage>().toExtend<DurableStorage>()
  expectTypeOf(durableObjectStore).returns.toEqualTypeOf<PaymentStore>()
})
