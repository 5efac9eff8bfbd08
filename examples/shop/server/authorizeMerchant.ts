import { createHash, timingSafeEqual } from 'node:crypto'
import type { Principal } from 'countersign/http'
import type { Address } from 'viem'

/** What the shop refunds on one day at most. */
const refunds = { perDay: '1000.00' }

/** Knows the merchant by the key of the link in the terminal. */
export function authorizeMerchant(
  merchantKey: string,
  recipients: readonly Address[],
): (request: Request) => Principal | undefined {
  const expected = digest(`Bearer ${merchantKey}`)
  return ({ headers }) =>
    timingSafeEqual(digest(headers.get('authorization') ?? ''), expected)
      ? { recipients, refunds }
      : undefined
}

/** Equal lengths, so that the comparison takes the same time for all. */
function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}
