import { decodePaymentSignatureHeader } from '@x402/core/http'
import type { Order } from 'countersign/orders'
import type { X402Handler } from 'countersign/x402'
import {
  type Address,
  createWalletClient,
  erc20Abi,
  type Hex,
  http,
  type PrivateKeyAccount,
  parseAbi,
  parseSignature,
} from 'viem'
import { waitForTransactionReceipt } from 'viem/actions'
import { fundedAccount } from './desk.js'
import { balanceOf, chain, type GateShop, price, signFor } from './x402Desk.js'

/** Where the tests of the gate sell. */
const workAddress = 'https://shop.example/work'

/** A paid request of someone new, which can be sent again as it is. */
export type GatePayer = {
  account: PrivateKeyAccount
  header: string
  send(): Promise<Response>
  /** The payer's newest order. */
  lastOrder(): Promise<Order>
}

/** Asks a gate for its price, and signs. */
export async function openGatePayer(
  shop: GateShop,
  offer: string,
  handler: X402Handler,
  account?: PrivateKeyAccount,
): Promise<GatePayer> {
  const payer = account ?? (await fundedAccount(chain, price))
  const sold = shop.gate.protect(offer, handler)
  const header = await signFor(payer, await sold(new Request(workAddress)))
  const headers = { 'PAYMENT-SIGNATURE': header }
  return {
    account: payer,
    header,
    send: () => sold(new Request(workAddress, { headers })),
    lastOrder: async () => {
      const { orders } = await shop.orders.list({
        payer: payer.address.toLowerCase() as Address,
        limit: 1,
      })
      const [order] = orders
      if (!order) throw new Error('no order')
      return order
    },
  }
}

/** Runs a worker of the shop beside the work. */
export async function besideWorker<value>(
  { orders }: GateShop,
  work: () => Promise<value>,
): Promise<value> {
  const stop = new AbortController()
  const ended = orders.run({ signal: stop.signal })
  try {
    return await work()
  } finally {
    stop.abort()
    await ended
  }
}

async function walletOf(account: PrivateKeyAccount) {
  await chain.clients.test.setBalance({
    address: account.address,
    value: 10n ** 18n,
  })
  return createWalletClient({ account, chain: chain.chain, transport: http() })
}

/** Moves all that an account has away, by a transaction of its own. */
export async function emptyAccount(account: PrivateKeyAccount): Promise<void> {
  const wallet = await walletOf(account)
  const hash = await wallet.writeContract({
    address: chain.token,
    abi: erc20Abi,
    functionName: 'transfer',
    args: [`0x${'99'.repeat(20)}`, await balanceOf(account.address)],
  })
  await waitForTransactionReceipt(chain.clients.public, { hash })
}

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
])

/** Submits the payment of a header by a transaction of the payer's own. */
export async function submitAlone({
  account,
  header,
}: Pick<GatePayer, 'account' | 'header'>): Promise<void> {
  const { payload } = decodePaymentSignatureHeader(header)
  // As the exact scheme writes it.
  const { authorization, signature } = payload as {
    authorization: {
      from: Address
      to: Address
      value: string
      validAfter: string
      validBefore: string
      nonce: Hex
    }
    signature: Hex
  }
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const { r, s, yParity } = parseSignature(signature)
  const wallet = await walletOf(account)
  const hash = await wallet.writeContract({
    address: chain.token,
    abi,
    functionName: 'transferWithAuthorization',
    args: [
      from,
      to,
      BigInt(value),
      BigInt(validAfter),
      BigInt(validBefore),
      nonce,
      27 + yParity,
      r,
      s,
    ],
  })
  await waitForTransactionReceipt(chain.clients.public, { hash })
}
