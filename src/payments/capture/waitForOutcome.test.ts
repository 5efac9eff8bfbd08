import { createClient, custom } from 'viem'
import { expect, test } from 'vitest'
import { samplePayment } from '../../testing/samplePayment.js'
import { waitForOutcome } from './waitForOutcome.js'

function silentNode() {
  const asked: unknown[] = []
  const request = async (call: unknown) => asked.push(call)
  return { client: createClient({ transport: custom({ request }) }), asked }
}

test.each([undefined, null, {}, []])(
  'a wait for the outcome of %o is refused before anything is sent',
  async (payment) => {
    const { client, asked } = silentNode()
    await expect(
      waitForOutcome(client, { payment: payment as never }),
    ).rejects.toMatchObject({ name: 'InvalidFieldError' })
    expect(asked).toEqual([])
  },
)

test.each<[string, unknown]>([
  ['timeout', Number.NaN],
  ['timeout', -1],
  ['timeout', '1000'],
  ['timeout', null],
  ['timeout', 1000n],
  ['pollingInterval', Number.NaN],
  ['pollingInterval', -20],
  ['pollingInterval', '20'],
  ['signal', {}],
  ['signal', 'soon'],
  ['signal', null],
  ['signal', new AbortController()],
  ['finality', 'final'],
  ['finality', 'latest'],
  ['finality', ''],
  ['since', 1],
  ['since', -1n],
  ['since', '0'],
])(
  'a wait with the %s %o is refused before anything is sent, by name',
  async (field, value) => {
    const { client, asked } = silentNode()
    const parameters = { payment: samplePayment(), timeout: 50, [field]: value }
    await expect(
      waitForOutcome(client, parameters as never),
    ).rejects.toMatchObject({ name: 'InvalidFieldError', details: { field } })
    expect(asked).toEqual([])
  },
)
