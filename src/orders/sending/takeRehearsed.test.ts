import { expect, test } from 'vitest'
import { samplePayment } from '../../testing/samplePayment.js'
import { openRehearsalMemory } from '../account/rehearsalMemory.js'
import { takeRehearsed } from './takeRehearsed.js'

type Parameters3 = Parameters<typeof takeRehearsed>

const head = { number: 7n, timestamp: 1_000n }
const fees = {
  fields: { type: 'eip1559', maxFeePerGas: 3n, maxPriorityFeePerGas: 1n },
  maxFeePerGas: 3n,
  maxPriorityFeePerGas: 1n,
} as const

const payment = {
  ...samplePayment({ primaryType: 'TransferWithAuthorization' }),
  signature: `0x${'11'.repeat(65)}`,
} as const

const stored = {
  order: { id: 'one', requested: 'capture' },
  attempt: { signatureHash: '0xaa' },
} as unknown as Parameters3[1][number]

type Given = {
  at?: typeof head
  policy?: Partial<Parameters3[0]['policy']>
  signatureHash?: `0x${string}`
  refusesContracts?: boolean
}

/** Returns the number of orders whose capture need not be simulated again. */
function countTaken({
  at = head,
  policy = {},
  signatureHash = '0xaa',
  refusesContracts = false,
}: Given = {}): number {
  const rehearsals = openRehearsalMemory()
  rehearsals.remember('one', {
    payment,
    signatureHash,
    head,
    gas: 80_000n,
    refusesContracts,
  })
  const context = {
    rehearsals,
    policy: { contractPayers: 'accept', maxFee: undefined, ...policy },
  } as unknown as Parameters3[0]
  const { drafts, others } = takeRehearsed(context, [stored], {
    head: at,
    fees,
  })
  expect(drafts.length + others.length).toBe(1)
  return drafts.length
}

test('a payment accepted at this very block is not rehearsed again', () => {
  expect(countTaken()).toBe(1)
})

test.each<[string, Given]>([
  ['after a block', { at: { ...head, number: 8n } }],
  ['on another branch', { at: { ...head, timestamp: 1_001n } }],
  ['signed again since', { signatureHash: '0xbb' }],
  ['whose payer may be a contract', { policy: { contractPayers: 'refuse' } }],
  ['that would cost too much', { policy: { maxFee: 239_999n } }],
])('a payment %s is rehearsed again', (_, given) => {
  expect(countTaken(given)).toBe(0)
})

test('a payer that was checked for code is not rehearsed again', () => {
  const policy = { contractPayers: 'refuse' } as const
  expect(countTaken({ policy, refusesContracts: true })).toBe(1)
})

test('a rehearsal is taken once', () => {
  const rehearsals = openRehearsalMemory()
  const rehearsed = {
    payment,
    signatureHash: undefined,
    head,
    gas: 1n,
    refusesContracts: false,
  }
  rehearsals.remember('one', rehearsed)
  expect(rehearsals.take('one')).toBe(rehearsed)
  expect(rehearsals.take('one')).toBe(undefined)
})
