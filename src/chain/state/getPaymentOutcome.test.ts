import { createClient, custom } from 'viem'
import { expect, test } from 'vitest'
import { samplePayment } from '../../testing/samplePayment.js'
import { getPaymentOutcome } from './getPaymentOutcome.js'

test.each<[string, unknown]>([
  ['block', 12],
  ['block', -1n],
  ['block', '0x1f'],
  ['block', 'newest'],
  ['block', null],
  ['block', { number: 1n }],
  ['since', 1_700_000_000],
  ['since', -1n],
  ['since', null],
  ['maxBlockRange', 2000],
  ['maxBlockRange', 0n],
  ['maxBlockRange', -5n],
])(
  'an outcome with the %s %o is refused before anything is sent, by name',
  async (field, value) => {
    const asked: unknown[] = []
    const request = async (call: unknown) => asked.push(call)
    const client = createClient({ transport: custom({ request }) })
    const parameters = { payment: samplePayment(), [field]: value }
    await expect(
      getPaymentOutcome(client, parameters as never),
    ).rejects.toMatchObject({ name: 'InvalidFieldError', details: { field } })
    expect(asked).toEqual([])
  },
)
