import { encodePayment } from 'countersign'
import { samplePayment } from 'countersign/testing'
import type { checkout } from './consumer/browser.js'

/** What the wallet of `payOnPage` answers. */
export const sampleSignature = `0x${'11'.repeat(64)}1b`

/** Reads a payment and has a wallet sign it, as a page would. */
export async function payOnPage(page: typeof checkout): Promise<string> {
  const { domain, message } = samplePayment()
  const { chainId, verifyingContract: token } = domain
  const signed = await page.signPayment(
    {
      request: async ({ method }) =>
        method === 'eth_chainId' ? chainId : sampleSignature,
    },
    {
      payment: page.decodePayment(encodePayment(samplePayment())),
      expect: { chainId, token, to: message.to, amount: '12.50' },
    },
  )
  return signed.signature
}
