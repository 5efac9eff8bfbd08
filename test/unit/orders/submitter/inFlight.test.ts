import { expect, test } from 'vitest'
import { openInFlight } from '../../../../src/orders/account/inFlight.js'
import type { TransactionRecord } from '../../../../src/store/types.js'
import { word } from '../../support/settlingRows.js'
import { storedAttempt } from '../../support/storedOrder.js'

const sent: TransactionRecord = {
  chainId: 1,
  account: storedAttempt.token,
  nonce: 7,
  bump: 0,
  version: 1,
  kind: 'capture',
  movements: [{ orderId: 'one', attempt: 1 }],
  hash: word('a'),
  raw: 'sealed',
  gas: 1n,
  maxFeePerGas: 1n,
  maxPriorityFeePerGas: 1n,
  recordedAt: 0n,
  inFlight: true,
}

test.each<[string, (inFlight: ReturnType<typeof openInFlight>) => void]>([
  ['are closed', ({ close }) => close([[sent]])],
  ['are removed', ({ remove }) => remove(sent)],
  ['are not loaded again', ({ load }) => load([], 1)],
])('nothing is remembered of transactions that %s', (_, end) => {
  const inFlight = openInFlight()
  inFlight.load([sent], 0)
  inFlight.rememberEnds(storedAttempt)
  inFlight.rememberShown(word('a'))
  expect(inFlight.endsOf(sent)).toBeDefined()
  end(inFlight)
  expect(inFlight.endsOf(sent)).toBeUndefined()
  expect(inFlight.isShown(word('a'))).toBe(false)
})
