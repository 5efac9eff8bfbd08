import type { Hash } from 'viem'
import { expect, test } from 'vitest'
import { sampleProof } from '../../../test/storeCases/samples.js'
import {
  storedAttempt,
  storedOrder,
} from '../../../test/unit/support/storedOrder.js'
import type { OrderRecord } from '../../store/types.js'
import { mayReopen } from './fillGaps.js'

const hash: Hash = `0x${'a'.repeat(64)}`

function carrying(order: Partial<OrderRecord>, proven: boolean) {
  const facts = { kind: 'capture', orderId: 'one', attempt: 1 } as const
  const proof = sampleProof(storedOrder, { transactionHash: hash, ...facts })
  return {
    order: { ...storedOrder, ...order },
    attempt: storedAttempt,
    attempts: [storedAttempt],
    proofs: proven ? [{ ...proof, version: 1 }] : [],
  }
}

const sent = { kind: 'capture', hash, inFlight: false } as const
const captured = carrying({ state: 'captured' }, true)

test.each([
  ['waits to be sent alone', {}, true],
  ['was voided', { state: 'voided', requested: undefined }, false],
  ['is to be voided', { requested: 'void' }, false],
  ['was captured after a void', { unexpected: true }, false],
] as const)(
  'a dropped capture of two payments of which one %s may be sent again: %o',
  (_, second, may) => {
    const carried = [captured, carrying(second, false)]
    expect(mayReopen(sent, carried)).toBe(may)
  },
)
