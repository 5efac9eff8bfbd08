// What every project does once the package is installed: judge a signature.
import { deepEqual } from 'node:assert/strict'
import {
  decodePayment,
  encodePayment,
  explainSignature,
  type PaymentVerdict,
  paymentTypedData,
  type SignedPayment,
  verifyPayment,
} from 'countersign'
import * as accelerate from 'countersign/accelerate'
import * as checkout from 'countersign/checkout'
import * as devchain from 'countersign/devchain'
import * as handler from 'countersign/http'
import * as orders from 'countersign/orders'
import * as reads from 'countersign/reads'
import * as sql from 'countersign/sql'
import * as store from 'countersign/store'
import * as subscriptions from 'countersign/subscriptions'
import * as testing from 'countersign/testing'
import * as webhooks from 'countersign/webhooks'
import { createClient, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'

const entries: readonly object[] = [
  accelerate,
  checkout,
  devchain,
  handler,
  orders,
  reads,
  sql,
  store,
  subscriptions,
  testing,
  webhooks,
]
for (const entry of entries) deepEqual(Object.keys(entry).length > 0, true)

const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const payment = testing.samplePayment({ from: payer.address })
const signature = await payer.signTypedData(paymentTypedData(payment))
const signed: SignedPayment = { ...payment, signature }
const { found } = await explainSignature({
  payment: { ...decodePayment(encodePayment(payment)), signature },
})
deepEqual(found, true)

/** The project's own viem fits; no node is asked here. */
export const judge = (): Promise<PaymentVerdict> =>
  verifyPayment(createClient({ chain: base, transport: http() }), {
    payment: signed,
    expect: {
      token: payment.domain.verifyingContract,
      to: payment.message.to,
      amount: '12.50',
    },
  })
