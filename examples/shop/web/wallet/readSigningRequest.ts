import { formatAmount } from 'countersign'
import { checkoutAddress } from 'countersign/checkout'
import {
  type Address,
  decodeAbiParameters,
  type Hex,
  isAddressEqual,
} from 'viem'
import { askJson } from '../api/askShop.js'
import { developmentChainId } from '../api/chain.js'
import { WalletFault } from './WalletFault.js'

/** What a page asks to be signed, in terms a person can judge. */
export type SigningRequest =
  | {
      kind: 'payment'
      token: Address
      symbol: string
      from: Address
      to: Address
      amount: string
      /** Unix seconds. */
      until: number
      nonce: Hex
      /** The checkout contract takes it, and returns what is not charged. */
      isCeiling: boolean
      /** Whoever holds the signature can submit it, not only the recipient. */
      isForAnyone: boolean
    }
  | {
      kind: 'cancellation'
      token: Address
      symbol: string
      from: Address
      nonce: Hex
    }

/**
 * Reads typed data of EIP-3009, and nothing else: what cannot be said in
 * words is not signed. Decimals and symbol come from the token, not from the
 * page.
 *
 * @throws {@link WalletFault}
 */
export async function readSigningRequest(
  typedData: unknown,
): Promise<SigningRequest> {
  const { domain, message, primaryType } = Object(typedData)
  if (Number(Object(domain).chainId) !== developmentChainId)
    throw new WalletFault(
      4902,
      'This wallet signs for the development chain only.',
    )
  const token: Address = domain.verifyingContract
  const { nonce } = Object(message)
  const { symbol, decimals } = await readToken(token)
  const common = { token, symbol, nonce }
  switch (primaryType) {
    case 'CancelAuthorization':
      return { kind: 'cancellation', ...common, from: message.authorizer }
    case 'ReceiveWithAuthorization':
    case 'TransferWithAuthorization':
      return {
        kind: 'payment',
        ...common,
        from: message.from,
        to: message.to,
        amount: formatAmount(BigInt(message.value), decimals),
        until: Number(message.validBefore),
        isCeiling: isAddressEqual(message.to, checkoutAddress),
        isForAnyone: primaryType === 'TransferWithAuthorization',
      }
    default:
      throw new WalletFault(4200, 'This wallet signs EIP-3009 payments only.')
  }
}

async function readToken(
  token: Address,
): Promise<{ symbol: string; decimals: number }> {
  // symbol() and decimals()
  const calls = ['0x95d89b41', '0x313ce567'].map((data, id) => ({
    jsonrpc: '2.0',
    id,
    method: 'eth_call',
    params: [{ to: token, data }, 'latest'],
  }))
  const answers = await askJson<{ id: number; result?: Hex }[]>('/rpc', {
    body: JSON.stringify(calls),
  })
  const [symbol, decimals] = calls.map(
    ({ id }) => answers.find((answer) => answer.id === id)?.result ?? '0x',
  )
  if (!symbol || !decimals || decimals === '0x')
    throw new WalletFault(-32_602, 'There is no token at this address.')
  const [words] = decodeAbiParameters([{ type: 'string' }], symbol)
  return { symbol: words, decimals: Number(decimals) }
}
