import type { DevChain } from 'countersign/devchain'
import type { Address } from 'viem'
import type {
  StoredValue,
  TransactionRecord,
} from '../../../src/store/types.js'
import { openShop, type Shop, type ShopParameters } from './orderRows.js'

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

/** A shop whose wallet is an account of the node's own. */
export function openWalletShop(
  chain: DevChain,
  address: Address,
  send: Send,
  parameters: Partial<ShopParameters> = {},
): Shop {
  const answer = onSend(chain, send)
  return openShop(chain, {
    account: { address, type: 'json-rpc' },
    answer,
    ...parameters,
  })
}

/** Sends under the account nonce that comes next, whatever it is asked. */
export const sendFreely: Send = (pass, { nonce: _, ...fields }) => pass(fields)

const submitterKeyOf = ({ account }: Shop) =>
  `submitter:31337:${account.address.toLowerCase()}`

export function readSubmitterValue(
  shop: Shop,
): Promise<StoredValue | undefined> {
  return shop.context.store.read((tables) =>
    tables.getValue(submitterKeyOf(shop)),
  )
}

export async function setSubmitterValue(
  shop: Shop,
  value: StoredValue,
): Promise<void> {
  const { store } = shop.context
  await store.write((tables) => tables.setValue(submitterKeyOf(shop), value))
}

/** What a submitter has on record and not settled. */
export function readOpen({
  context,
  account,
}: Shop): Promise<TransactionRecord[]> {
  const inFlight = {
    chainId: 31337,
    account: account.address.toLowerCase() as Address,
  }
  return context.store.read((tables) => tables.transactions.find({ inFlight }))
}
