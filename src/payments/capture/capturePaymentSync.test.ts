import { createClient, custom } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { samplePayment } from '../../testing/samplePayment.js'
import { capturePaymentSync } from './capturePaymentSync.js'

test.each<[string, unknown]>([
  ['timeout', Number.NaN],
  ['timeout', '20000'],
  ['pollingInterval', Number.NaN],
  ['pollingInterval', -1],
])(
  'a capture to be waited for with the %s %o is refused before anything is sent',
  async (field, value) => {
    const asked: unknown[] = []
    const request = async (call: unknown) => asked.push(call)
    const client = createClient({
      account: privateKeyToAccount(`0x${'1'.repeat(64)}`),
      transport: custom({ request }),
    })
    const signature = `0x${'11'.repeat(65)}`
    const payment = { ...samplePayment(), signature }
    const parameters = { payment, [field]: value }
    await expect(
      capturePaymentSync(client, parameters as never),
    ).rejects.toMatchObject({ name: 'InvalidFieldError', details: { field } })
    expect(asked).toEqual([])
  },
)
