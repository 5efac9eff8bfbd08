import { verifyPayment } from 'countersign'
import { checkout } from 'countersign/checkout'
import { expect, test } from 'vitest'
import {
  chain,
  client,
  fundedPayer,
  signedCheckout,
} from '../support/checkoutDesk.js'
import { deployOzToken, mintOz, type OzToken } from '../support/ozTokens.js'

/** The verdict about a ceiling in one of OpenZeppelin's tokens. */
async function verdictOf(name: OzToken) {
  const token = await deployOzToken(chain, name)
  const payer = await fundedPayer()
  await mintOz(chain, token, payer.address, 100_000_000n)
  const payment = await signedCheckout(payer, {
    domain: { name, version: '1', chainId: 31337, verifyingContract: token },
  })
  return verifyPayment(client, {
    kind: checkout,
    payment,
    expect: { token, to: payment.checkout.recipient, atMost: '50.00' },
  })
}

test('a ceiling in a token with keyed nonces is refused by name: its nonce is the hash of its terms', async () => {
  expect(await verdictOf('KeyedNonces')).toMatchObject({
    ok: false,
    reason: 'wrongNonce',
  })
})

test('a ceiling in a token with plain nonces is taken', async () => {
  expect(await verdictOf('PlainNonces')).toMatchObject({ ok: true })
})
