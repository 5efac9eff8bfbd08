import { wrapAxiosWithPayment } from '@x402/axios'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import axios from 'axios'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

/** The stock clients of x402, as a page has them. */
export type StockClient = 'fetch' | 'axios'

/** What a page read of a paid answer. */
export type PaidOnPage = {
  status: number
  body: unknown
  /** The answer's `PAYMENT-RESPONSE`, if the page may read it. */
  settlement: string | null
}

/** Buys from another origin with a stock client. */
async function payX402(
  kind: StockClient,
  url: string,
  key: Hex,
): Promise<PaidOnPage> {
  const account = privateKeyToAccount(key)
  const client = x402Client.fromConfig({
    schemes: [{ network: 'eip155:*', client: new ExactEvmScheme(account) }],
    spendControls: { allowedAssets: true },
  })
  if (kind === 'axios') {
    const answer = await wrapAxiosWithPayment(
      axios.create({ adapter: 'fetch' }),
      client as never,
    ).get(url)
    const settlement = answer.headers['payment-response'] ?? null
    return { status: answer.status, body: answer.data, settlement }
  }
  const answer = await wrapFetchWithPayment(fetch, client)(url)
  return {
    status: answer.status,
    body: await answer.json(),
    settlement: answer.headers.get('PAYMENT-RESPONSE'),
  }
}

// What the test finds in the page.
Object.assign(globalThis, { payX402 })
