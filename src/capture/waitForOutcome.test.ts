import { createClient, custom } from 'viem'
import { expect, test } from 'vitest'
import { waitForOutcome } from './waitForOutcome.js'

test.each([undefined, null, {}, []])(
  'a wait for the outcome of %o is refused before anything is sent',
  async (payment) => {
    const asked: unknown[] = []
    const request = async (call: unknown) => asked.push(call)
    const client = createClient({ transport: custom({ request }) })
    await expect(
      waitForOutcome(client, { payment: payment as never }),
    ).rejects.toMatchObject({ name: 'InvalidFieldError' })
    expect(asked).toEqual([])
  },
)
