import {
  buildCancellation,
  cancelPayment,
  capturePayment,
  getPaymentOutcome,
  type SignedPayment,
  signCancellation,
  verifyPayment,
  waitForOutcome,
} from 'countersign'
import { faultTransport } from 'countersign/testing'
import { createClient, custom } from 'viem'
import { expectEqual } from './expectEqual.js'
import { failureOf } from './failureOf.js'
import { amount, signedPayment } from './signedPayment.js'
import type { Stage, StagedCase } from './types.js'

/** A payment meets a node. */
export const paymentCases: readonly StagedCase[] = [
  {
    name: 'the token accepts a signed payment, and no other',
    run: async (stage) => {
      const payment = await signedPayment(stage)
      expectEqual(await judge(stage, payment), 'ok')
      expectEqual(await judge(stage, payment, '12.51'), 'wrongAmount')
      const { message } = payment
      const dearer = { ...message, value: message.value + 1n }
      expectEqual(
        await judge(stage, { ...payment, message: dearer }),
        'wrongSigner',
      )
      const signature = '0x12'
      expectEqual(
        await judge(stage, { ...payment, signature }),
        'malformedSignature',
      )
    },
  },
  {
    name: 'a capture is sent, and its outcome proven',
    run: async (stage) => {
      const { reader, merchant } = stage
      const payment = await signedPayment(stage)
      const before = await getPaymentOutcome(reader, { payment })
      expectEqual(before, { status: 'unused' })
      const hash = await capturePayment(merchant, { payment })
      const outcome = await waitForOutcome(reader, { payment, hash })
      const proof = 'proof' in outcome ? outcome.proof : undefined
      expectEqual(
        [outcome.status, proof?.transactionHash, proof?.finality],
        ['captured', hash, 'included'],
      )
      const again = await failureOf(() => capturePayment(merchant, { payment }))
      expectEqual(Object(again).name, 'CaptureRejectedError')
    },
  },
  {
    name: 'a cancellation is sent, and its outcome proven',
    run: async (stage) => {
      const { reader, payer, merchant } = stage
      const payment = await signedPayment(stage)
      const cancellation = await signCancellation(payer, {
        cancellation: buildCancellation({ payment }),
        expect: {
          chainId: payment.domain.chainId,
          token: payment.domain.verifyingContract,
          nonce: payment.message.nonce,
        },
      })
      const hash = await cancelPayment(merchant, { cancellation })
      const outcome = await waitForOutcome(reader, { payment, hash })
      expectEqual(
        [outcome.status, Object(outcome).transactionHash],
        ['canceled', hash],
      )
      expectEqual(await judge(stage, payment), 'consumed')
    },
  },
  {
    name: 'a failing node is a typed error that may be tried again',
    run: async (stage) => {
      const payment = await signedPayment(stage)
      const transport = faultTransport(custom(stage.reader), {
        seed: 1,
        rates: { http503: 1 },
      })
      const client = createClient({ chain: stage.reader.chain, transport })
      const failure = await failureOf(() =>
        getPaymentOutcome(client, { payment }),
      )
      expectEqual(Object(failure).name, 'NodeError')
    },
  },
]

/** `ok`, or why not. */
async function judge(
  { reader, token, merchant }: Stage,
  payment: SignedPayment,
  expected = amount,
): Promise<string> {
  const to = merchant.account.address
  const expect = { token, to, amount: expected }
  const verdict = await verifyPayment(reader, { payment, expect })
  return verdict.ok ? 'ok' : verdict.reason
}
