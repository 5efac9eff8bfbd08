import { toHledger } from 'countersign/orders'
import { expect, test } from 'vitest'
import { judgeJournal } from '../../../chain/support/hledger.js'
import { sampleRow, streamOf, textOf } from '../../support/ledgerRow.js'

const closing = (balance: bigint) =>
  sampleRow({ type: 'closing', gross: 0n, net: 0n, balance })

test('a journal that does not add up to its balance is refused', async () => {
  const right = await textOf(
    toHledger(streamOf(sampleRow(), closing(12_500_000n))),
  )
  const { read, judged = read } = await judgeJournal(right)
  expect(judged).toEqual(read)
  const wrong = await textOf(
    toHledger(streamOf(sampleRow(), closing(12_500_001n))),
  )
  await expect(judgeJournal(wrong)).rejects.toThrow()
})

test('a symbol that is an address is quoted, and a strange one is made plain', async () => {
  for (const symbol of [`0x${'1'.repeat(40)}`, 'US"D:\n;x', '']) {
    const text = await textOf(toHledger(streamOf(sampleRow({ symbol }))))
    const { read, judged = read } = await judgeJournal(text)
    expect(judged).toEqual(read)
  }
})
