import type { Hash } from 'viem'
import { expect, test } from 'vitest'
import {
  storedAttempt,
  storedOrder,
} from '../../../test/unit/support/storedOrder.js'
import type { OrderRecord } from '../../store/types.js'
import { mayReopen } from './fillGaps.js'

const hash: Hash = `0x${'a'.repeat(64)}`

function carrying(order: Partial<OrderRecord>, proven: boolean) {
  const { chainId, token, recipient } = storedOrder
  const proof = {
    chainId,
    token,
    recipient,
    transactionHash: hash,
    logIndex: 0,
    version: 1,
    kind: 'capture',
    orderId: 'one',
    attempt: 1,
    blockHash: hash,
    blockNumber: 9n,
    blockTime: 90n,
    payer: recipient,
    value: 5n,
    submitter: token,
    gasUsed: 1n,
    effectiveGasPrice: 1n,
    removed: false,
  } as const
  return {
    order: { ...storedOrder, ...order },
    attempt: storedAttempt,
    attempts: [storedAttempt],
    proofs: proven ? [proof] : [],
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
