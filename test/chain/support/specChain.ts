import {
  buildCancellation,
  cancelPayment,
  capturePayment,
  formatAmount,
  getAuthorizationState,
  type Payment,
  preparePayment,
  type SignedPayment,
  signCancellation,
  signPayment,
  type TokenCall,
  type TokenDomain,
} from 'countersign'
import { devContracts, startDevChain } from 'countersign/devchain'
import {
  type Address,
  createWalletClient,
  type Hash,
  type Hex,
  http,
  type TransactionReceipt,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  getBlock,
  readContract,
  sendTransactionSync,
  setNextBlockTimestamp,
  waitForTransactionReceipt,
} from 'viem/actions'
import { afterAll } from 'vitest'
import { tryRequest } from '../../../src/chain/rpc/requestNode.js'
import { parseRevert } from '../../../src/core/revertReason.js'
import { cancelPageOf } from './settle.js'

/** The chain of one test file: it starts with the file and stops after it. */
export const chain = await startDevChain({ blockTime: 0 })
afterAll(() => chain.stop())

export const { public: client, merchant, relayer, test: node } = chain.clients
export const { token } = chain
const tokenAbi = devContracts.fiatTokenV2_2.abi
export const to = merchant.account.address.toLowerCase() as Address
export const amount = '12.50'
export const expected = { token, to, amount }

export type Wallet = typeof merchant
type Changes = Partial<Omit<Parameters<typeof preparePayment>[1], 'from'>>

export async function freshPayer(value = 100_000_000n): Promise<Wallet> {
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: account.address, value })
  return createWalletClient({ account, chain: chain.chain, transport: http() })
}

/** A payment of 12.50 by a payer who is new to the chain. */
export async function draft(changes: Changes = {}, funds?: bigint) {
  const payer = await freshPayer(funds)
  const from = payer.account.address
  const payment = await preparePayment(client, {
    ...expected,
    ...changes,
    from,
  })
  return { payer, payment }
}

export async function sign(
  payer: Wallet,
  payment: Payment,
): Promise<SignedPayment> {
  const { chainId, verifyingContract } = payment.domain
  const { value, to } = payment.message
  return signPayment(payer, {
    payment,
    expect: {
      chainId,
      token: verifyingContract,
      to,
      amount: formatAmount(value),
      primaryType: payment.primaryType,
      maxWindow: 2n ** 256n,
    },
  })
}

export async function draftAndSign(changes?: Changes, funds?: bigint) {
  const { payer, payment } = await draft(changes, funds)
  return { payer, payment: await sign(payer, payment) }
}

export const receiptOf = (hash: Hash) =>
  waitForTransactionReceipt(client, { hash })

export async function capture(
  payment: SignedPayment,
): Promise<TransactionReceipt> {
  return receiptOf(await capturePayment(merchant, { payment }))
}

export async function cancel(
  payer: Wallet,
  payment: Payment,
): Promise<TransactionReceipt> {
  const unsigned = buildCancellation({ payment })
  const cancellation = await signCancellation(payer, {
    cancellation: unsigned,
    expect: cancelPageOf(unsigned),
  })
  return receiptOf(await cancelPayment(relayer, { cancellation }))
}

/** Mines a call past every check of the library; gives the token's answer. */
export async function mine(
  by: Wallet,
  { to, data }: TokenCall,
): Promise<string> {
  const { status } = await sendTransactionSync(by, {
    to,
    data,
    gas: 300_000n,
    throwOnReceiptRevert: false,
  })
  if (status === 'success') return status
  const params = [{ from: by.account.address, to, data }, 'latest']
  const { failure } = await tryRequest(client, 'eth_call', params)
  return parseRevert(failure?.data).words ?? 'no words'
}

export function stateOf({ domain, message }: Payment): Promise<boolean> {
  return getAuthorizationState(client, {
    token: domain.verifyingContract,
    payer: message.from,
    nonce: message.nonce,
  })
}

export function balanceOf(account: Address, of = token): Promise<bigint> {
  return readContract(client, {
    address: of,
    abi: tokenAbi,
    functionName: 'balanceOf',
    args: [account],
  })
}

export const read = (functionName: 'name' | 'version', address = token) =>
  readContract(client, { address, abi: tokenAbi, functionName })

export const now = async () => (await getBlock(client)).timestamp

export const usdc: TokenDomain = {
  name: 'USD Coin',
  version: '2',
  chainId: 8453,
  verifyingContract: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
}
export const payer = '0x1111111111111111111111111111111111111111'
export const sample = { domain: usdc, from: payer, to, amount } as const
export const nonce: Hex = `0x${'5'.repeat(64)}`

export async function moveFunds({ account }: Wallet): Promise<void> {
  await node.setBalance({ address: account.address, value: 10n ** 18n })
  const wallet = createWalletClient({
    account,
    chain: chain.chain,
    transport: http(),
  })
  const hash = await wallet.writeContract({
    address: token,
    abi: tokenAbi,
    functionName: 'transfer',
    args: [relayer.account.address, await balanceOf(account.address)],
  })
  await receiptOf(hash)
}

export function sendUnchecked(
  payment: SignedPayment,
  gas = 200_000n,
): Promise<Hash> {
  return capturePayment(merchant, { payment, simulate: false, gas })
}

export async function mineAt(timestamp: bigint): Promise<void> {
  await setNextBlockTimestamp(node, { timestamp })
  await node.mine({ blocks: 1 })
}
