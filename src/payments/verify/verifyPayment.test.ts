import { createClient, custom } from 'viem'
import { expect, test } from 'vitest'
import { samplePayment } from '../../testing/samplePayment.js'
import { verifyPayment } from './verifyPayment.js'

test.each([12, -1n, '0x1f', 'newest', null, {}])(
  'a verdict at the block %o is refused before anything is sent',
  async (block) => {
    const asked: unknown[] = []
    const request = async (call: unknown) => asked.push(call)
    const client = createClient({ transport: custom({ request }) })
    const payment = { ...samplePayment(), signature: `0x${'11'.repeat(65)}` }
    const { to } = payment.message
    const expectation = {
      token: payment.domain.verifyingContract,
      to,
      amount: '1',
    }
    const parameters = { payment, expect: expectation, block }
    await expect(
      verifyPayment(client, parameters as never),
    ).rejects.toMatchObject({
      name: 'InvalidFieldError',
      details: { field: 'block' },
    })
    expect(asked).toEqual([])
  },
)
