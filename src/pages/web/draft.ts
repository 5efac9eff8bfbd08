import type { BuyerClient, ClientKind } from '../../client/BuyerClient.js'
import { ServerError } from '../../client/errors.js'
import { decodePayment } from '../../payments/message/codec.js'
import { eip3009Signing } from '../../payments/message/kind.js'

/** A payment as the shop drafted it, not yet decoded. */
export type PageDraft = {
  primaryType: string
  domain: { name: string; chainId: number; verifyingContract: string }
  /** Without `from` if the order names no payer. */
  message: Record<string, string>
  checkout?: Record<string, string> | undefined
}

/** Takes the payment as it is: its kind is known only when it is here. */
const undecoded: ClientKind = {
  ...eip3009Signing,
  decode: (json) => json as ReturnType<ClientKind['decode']>,
}

/** Asks for the payment to sign. */
export async function requestDraft(
  buyer: BuyerClient,
  signal?: AbortSignal,
): Promise<PageDraft> {
  const nobody = '' as `0x${string}`
  const payment: unknown = await buyer.requestPayment({
    payer: nobody,
    kind: undecoded,
    signal,
  })
  return payment as PageDraft
}

/** Loads what payments with a ceiling need only if there is one. */
export async function loadKind(draft: PageDraft): Promise<ClientKind> {
  if (!draft.checkout) return { ...eip3009Signing, decode: decodePayment }
  return (await loadCeilings()).ceilingKind(draft.primaryType)
}

/** Loads the code of payments with a ceiling. */
export function loadCeilings(): Promise<typeof import('./ceilings.js')> {
  return import('./ceilings.js').catch(() => {
    throw new ServerError({ request: 'The code for ceilings' })
  })
}
