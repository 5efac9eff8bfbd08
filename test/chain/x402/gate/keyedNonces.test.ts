import {
  decodePaymentSignatureHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http'
import type { PrivateKeyAccount } from 'viem'
import { expect, test } from 'vitest'
import { typedDataTypes } from '../../../../src/core/typedDataTypes.js'
import { fundedAccount } from '../../support/desk.js'
import { deployOzToken, mintOz, sequenceOf } from '../../support/ozTokens.js'
import {
  chain,
  countOrders,
  openGateShop,
  price,
  requiredBy,
  settlementOf,
  signFor,
} from '../../support/x402Desk.js'

const token = await deployOzToken(chain, 'KeyedNonces')
const shop = await openGateShop(
  {
    offers: {
      work: { amount: '0.01', token },
      upfront: { amount: '0.01', token, flow: 'upfront' },
    },
  },
  { tokens: [token] },
)
let runs = 0
const sell = shop.gate.protect('work', () => {
  runs++
  return new Response('done')
})
const address = 'https://shop.example/work'
const send = (header: string) =>
  sell(new Request(address, { headers: { 'PAYMENT-SIGNATURE': header } }))

async function stockHeader(): Promise<{
  account: PrivateKeyAccount
  header: string
}> {
  const account = await fundedAccount(chain)
  await mintOz(chain, token, account.address, price)
  return {
    account,
    header: await signFor(account, await sell(new Request(address))),
  }
}

test('the 32 random bytes of a stock client are refused before the work, when the token has keyed nonces', async () => {
  const { header } = await stockHeader()
  const refused = await send(header)
  expect(refused.status).toBe(402)
  expect(requiredBy(refused).error).toBe('invalid_payload')
  expect(runs).toBe(0)
  expect(await countOrders(shop.orders)).toBe(0)
})

test('a client that starts the sequence of a new key pays', async () => {
  const { account, header } = await stockHeader()
  const payload = decodePaymentSignatureHeader(header)
  const { authorization } = Object(payload.payload)
  const { name, version } = Object(payload.accepted.extra)
  const message = {
    ...authorization,
    nonce: sequenceOf(authorization.nonce, 0),
  }
  const signature = await account.signTypedData({
    domain: { name, version, chainId: 31337, verifyingContract: token },
    types: typedDataTypes,
    primaryType: 'TransferWithAuthorization',
    message,
  } as unknown as Parameters<typeof account.signTypedData>[0])
  const answer = await send(
    encodePaymentSignatureHeader({
      ...payload,
      payload: { authorization: message, signature },
    }),
  )
  expect(answer.status).toBe(200)
  expect(settlementOf(answer)).toMatchObject({ success: true })
})
