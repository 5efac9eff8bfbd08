import { decodePayment } from 'countersign'
import { startDevChain } from 'countersign/devchain'
import { type Hex, keccak256, stringToHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { mine } from 'viem/actions'
import { afterAll, expect, test } from 'vitest'
import { toJson } from '../../../src/core/toJson.js'
import { leaked, openDesk, sellPaid } from '../support/httpDesk.js'
import { pay } from '../support/shop.js'

const chain = await startDevChain({ blockTime: 0, epochBlocks: 1 })
afterAll(() => chain.stop())

const cold = privateKeyToAccount(generatePrivateKey())
let perDay: string | undefined = '100'
const desk = await openDesk(chain, {
  recipients: [cold.address],
  handler: {
    authorize: () => ({
      recipients: [cold.address],
      refunds: perDay === undefined ? undefined : { perDay },
    }),
  },
})
const { ask } = desk

/** A refund of an order that is paid to an account without a wallet here. */
async function requestRefund(): Promise<string> {
  const { id } = await sellPaid(chain, desk, {
    recipient: cold.address,
    primaryType: 'TransferWithAuthorization',
  })
  const captured = await ask(`POST /merchant/orders/${id}/capture`, {
    headers: { prefer: 'wait=25' },
  })
  expect(captured.status).toBe(200)
  const refunds = `/merchant/orders/${id}/refunds`
  const body = { refundId: 'one', amount: '2.5' }
  expect((await ask(`POST ${refunds}`, { body })).status).toBe(200)
  return `${refunds}/one/payment`
}

test('a recipient whose wallet is elsewhere signs a refund over HTTP', async () => {
  const path = await requestRefund()
  const early = await ask(`GET ${path}`)
  expect([early.status, early.body.reason]).toEqual([409, 'notFinal'])
  const unsigned = await ask(`POST ${path}`, {
    body: { signature: `0x${'5e'.repeat(65)}` },
  })
  expect([unsigned.status, unsigned.body]).toEqual([
    409,
    expect.objectContaining({
      reason: 'notOpen',
      detail: 'The refund is requested, which does not allow this.',
    }),
  ])
  await mine(chain.clients.test, { blocks: 3 })
  const toSign = await ask<{ payment: object }>(`GET ${path}`)
  expect(toSign.status).toBe(200)
  expect((await ask(`GET ${path}`)).text).toBe(toSign.text)

  const payment = decodePayment(toJson(toSign.body.payment))
  const { signature } = await pay(cold, payment)
  const stranger = await cold.sign({ hash: keccak256(stringToHex('other')) })
  const post = (sent: Hex) => ask(`POST ${path}`, { body: { signature: sent } })
  const wrong = await post(stranger)
  expect([wrong.status, wrong.body.reason]).toEqual([422, 'wrongSigner'])
  const signed = await post(signature)
  expect(signed).toMatchObject({
    status: 200,
    body: { refund: { refundId: 'one', state: 'sending', amount: '2.5' } },
  })
  expect((await post(signature)).text).toBe(signed.text)
  const again = await ask(`GET ${path}`)
  expect([again.status, again.body.reason]).toEqual([409, 'notOpen'])
  expect(leaked(desk.told, [signature, stranger])).toEqual([])
})

test('signing a refund needs the permission to refund', async () => {
  const path = await requestRefund()
  perDay = undefined
  const body = { signature: `0x${'5e'.repeat(65)}` }
  for (const answer of [
    await ask(`GET ${path}`),
    await ask(`POST ${path}`, { body }),
  ])
    expect([answer.status, answer.body.reason]).toEqual([
      ...[403, 'refundForbidden'],
    ])
  perDay = '100'
  const missing = await ask(`GET ${path.replace('/one/', '/none/')}`)
  expect([missing.status, missing.body.reason]).toEqual([404, 'refundNotFound'])
  const malformed = await ask(`POST ${path}`, { body: { signature: '0x5' } })
  expect([malformed.status, malformed.body.field]).toEqual([400, 'signature'])
})

test('the recipient chooses the window of a refund to sign, once', async () => {
  const path = await requestRefund()
  await mine(chain.clients.test, { blocks: 3 })
  const refused = await ask(`GET ${path}?window=5`)
  expect([refused.status, refused.body.reason, refused.body.field]).toEqual([
    ...[400, 'invalidField', 'window'],
  ])
  const toSign = await ask<{ payment: object }>(`GET ${path}?window=600`)
  expect(toSign.status).toBe(200)
  const { message } = decodePayment(toJson(toSign.body.payment))
  const { timestamp } = await chain.clients.public.getBlock()
  expect(message.validBefore - timestamp).toBe(600n)
  expect((await ask(`GET ${path}?window=900`)).text).toBe(toSign.text)
})
