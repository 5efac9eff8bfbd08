import { expect, test } from 'vitest'
import type { ChannelRecord } from '../../store/types.js'
import { bookCharge } from './bookCharge.js'
import type { LiveAnswer, SignedCall } from './types.js'

const word = `0x${'22'.repeat(32)}` as const

test('a stream that cannot be charged is refused, though its source never lets go', async () => {
  const call = {
    gate: {
      timeout: 1_000,
      keepFor: 0n,
      context: {
        sealer: { seal: async (text: string) => text },
        now: () => 0n,
      },
    },
    // Somebody has changed the channel, and it is gone.
    desk: { charge: async () => undefined, reload: async () => undefined },
    named: { id: word },
    payload: { maxClaimable: 10n },
    signature: word,
    bound: word,
  } as unknown as SignedCall
  const channel = {
    id: word,
    chainId: 1,
    token: word,
    payer: word,
    withdrawDelay: 900,
    charged: 0n,
  } as unknown as ChannelRecord
  const ended: string[] = []
  const live = {
    response: new Response(
      new ReadableStream({ cancel: () => new Promise(() => {}) }),
    ),
    charge: { end: () => ended.push('ended') },
  } as unknown as LiveAnswer
  const work = { run: 'ab', charged: 10n, sent: undefined, response: undefined }
  const reply = await bookCharge(call, channel, { ...work, live })
  expect(reply.kind).toBe('built')
  expect(ended).toEqual(['ended'])
}, 10_000)
