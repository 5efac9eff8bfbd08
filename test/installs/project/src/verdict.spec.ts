// What NestJS's starter runs with Jest, which translates it to CommonJS.
import { equal, rejects } from 'node:assert/strict'
import process from 'node:process'
import { explainSignature, paymentTypedData } from 'countersign'
import { loadAccelerator } from 'countersign/accelerate'
import { startDevChain } from 'countersign/devchain'
import { createPaymentHandler } from 'countersign/http'
import { createOrders } from 'countersign/orders'
import { sqliteStore } from 'countersign/sql'
import { samplePayment } from 'countersign/testing'
import { runWebhooks } from 'countersign/webhooks'
import { privateKeyToAccount } from 'viem/accounts'

declare const it: (name: string, run: () => void | Promise<void>) => void

it('judges a signature', async () => {
  const payer = privateKeyToAccount(`0x${'11'.repeat(32)}`)
  const payment = samplePayment({ from: payer.address })
  const signature = await payer.signTypedData(paymentTypedData(payment))
  const { found } = await explainSignature({
    payment: { ...payment, signature },
  })
  equal(found, true)
})

it('loads what a server takes', () => {
  for (const take of [createOrders, createPaymentHandler, runWebhooks])
    equal(typeof take, 'function')
})

it('says which optional package is missing', async () => {
  const file = 'orders.db'
  await rejects(sqliteStore({ file }).open(), /needs the package kysely/)
  const binary = process.execPath
  await rejects(startDevChain({ binary }), /@viem\/anvil/)
  await rejects(loadAccelerator(), /The accelerator needs/)
})
