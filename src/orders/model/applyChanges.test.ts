import { expect, test } from 'vitest'
import { applyChanges } from './applyChanges.js'
import { noChanges } from './changes.js'

test('changes replace rows, count their versions up and add new ones', () => {
  const order = { id: 'one', version: 2, state: 'capturing' } as never
  const other = { id: 'two', version: 1, state: 'stored' } as never
  const attempt = {
    orderId: 'one',
    number: 1,
    version: 3,
    spendable: true,
  } as never
  const proof = { transactionHash: '0x01', logIndex: 0 } as never
  const rows = { orders: [order, other], attempts: [attempt], proofs: [] }
  const changes = {
    ...noChanges(),
    orders: [{ id: 'one', version: 2, state: 'captured' } as never],
    attempts: [
      { orderId: 'one', number: 1, version: 3, spendable: false } as never,
    ],
    newProofs: [proof],
  }
  expect(applyChanges(rows, changes)).toEqual({
    orders: [{ id: 'one', version: 3, state: 'captured' }, other],
    attempts: [{ orderId: 'one', number: 1, version: 4, spendable: false }],
    proofs: [{ transactionHash: '0x01', logIndex: 0, version: 1 }],
  })
})
