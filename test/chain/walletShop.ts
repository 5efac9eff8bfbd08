import type { DevChain } from 'countersign/devchain'
import type { ShopParameters } from './orderRows.js'

/** What a wallet does when it is asked to send. */
export type Send = (
  forward: (fields: object) => Promise<unknown>,
  fields: { nonce?: string; data?: string },
) => Promise<unknown>

/** Stands between the wallet and the library. */
export const onSend =
  (chain: DevChain, send: Send): NonNullable<ShopParameters['answer']> =>
  ({ method, params }, forward) => {
    if (method !== 'eth_sendTransaction') return forward()
    const [fields] = Array.isArray(params) ? params : []
    const pass = (changed: object) =>
      chain.clients.public.request({ method, params: [changed] } as never)
    return send(pass, fields)
  }
