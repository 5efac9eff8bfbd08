import { expect, test } from 'vitest'
import { sampleRow, streamOf } from '../../../test/unit/support/ledgerRow.js'
import { mergeLedgerRows } from './mergeLedgerRows.js'
import type { LedgerRow } from './types.js'

const at = (blockTime: bigint, changes: Partial<LedgerRow> = {}): LedgerRow =>
  sampleRow({ blockTime, ...changes })

test('rows of several streams come by time, chain, block and place', async () => {
  const one = [
    at(1n, { type: 'opening' }),
    at(2n, { logIndex: 9 }),
    at(5n, { type: 'closing' }),
  ]
  const two = [at(2n, { type: 'gas' }), at(3n, { type: 'gas' })]
  const three = [at(2n, { logIndex: 3 }), at(2n, { chainId: 9000 })]
  const merged: LedgerRow[] = []
  const streams = [one, two, three].map((rows) => streamOf(...rows))
  for await (const row of mergeLedgerRows(streams)) merged.push(row)
  const first = [one[0], three[0], one[1], two[0], three[1], two[1], one[2]]
  expect(merged).toEqual(first)
})

test('when one stream fails, all are ended', async () => {
  const ended: string[] = []
  async function* stream(name: string, fails: boolean) {
    try {
      yield at(1n)
      if (fails) throw new Error('no answer')
      yield at(2n)
    } finally {
      ended.push(name)
    }
  }
  const merged = mergeLedgerRows([stream('good', false), stream('bad', true)])
  const read = async () => {
    for await (const _ of merged);
  }
  await expect(read()).rejects.toThrow('no answer')
  expect(ended.sort()).toEqual(['bad', 'good'])
})
