import { type ClientKind, ServerError } from 'countersign/client'

/** Loads what only orders with a ceiling need when there is such an order. */
export async function loadKind(
  total: 'amount' | 'atMost',
): Promise<ClientKind | undefined> {
  if (total === 'amount') return undefined
  const { checkout } = await import('countersign/checkout').catch(() => {
    throw new ServerError({ request: 'The code for ceilings' })
  })
  return checkout
}
