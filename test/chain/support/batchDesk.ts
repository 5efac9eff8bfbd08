import {
  buildPayment,
  captureCall,
  type PrimaryType,
  type SignedPayment,
} from 'countersign'
import { batchCall, type DelegationError } from 'countersign/batches'
import { startDevChain } from 'countersign/devchain'
import {
  type Account,
  type Address,
  createClient,
  createWalletClient,
  custom,
  http,
  type TransactionReceipt,
  type WalletClient,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import {
  sendTransaction,
  setBalance,
  waitForTransactionReceipt,
} from 'viem/actions'
import { afterAll, expect } from 'vitest'
import { sign } from './signing.js'

/** A chain with Circle's own USDC, MetaMask's own delegate, and stand-ins. */
export const chain = await startDevChain({
  blockTime: 0,
  token: 'usdc',
  batches: true,
})
afterAll(() => chain.stop())

export const { public: reader, relayer, test: node } = chain.clients

export const walletOf = (account: Account | Address): WalletClient =>
  createWalletClient({
    account,
    chain: chain.chain,
    transport: http(chain.urls.http),
  })

/** A new account with a key of its own and some ETH. */
export async function openAccount(): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey())
  await setBalance(node, { address: account.address, value: 10n ** 18n })
  return account
}

/** Mints two tokens to a new payer, who signs a payment of one. */
export async function payTo(
  to: Address,
  primaryType: PrimaryType = 'ReceiveWithAuthorization',
): Promise<{ payer: PrivateKeyAccount; payment: SignedPayment }> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: payer.address, value: 2_000_000n })
  const payment = draft(payer.address, to, primaryType)
  return {
    payer,
    payment: { ...payment, signature: await sign(payer, payment) },
  }
}

export const draft = (
  from: Address,
  to: Address,
  primaryType: PrimaryType = 'ReceiveWithAuthorization',
) =>
  buildPayment({
    domain: {
      name: 'USD Coin',
      version: '2',
      chainId: 31337,
      verifyingContract: chain.token,
    },
    from,
    to,
    amount: '1',
    primaryType,
  })

export async function paymentsTo(
  to: Address,
  count: number,
  primaryType?: PrimaryType,
): Promise<SignedPayment[]> {
  const payments: SignedPayment[] = []
  for (let at = 0; at < count; at++)
    payments.push((await payTo(to, primaryType)).payment)
  return payments
}

/** The account sends a batch that captures these payments to itself. */
export async function captureTogether(
  account: PrivateKeyAccount,
  payments: readonly SignedPayment[],
  gas?: bigint,
): Promise<TransactionReceipt> {
  const { address } = account
  const calls = payments.map((payment) => captureCall({ payment }))
  const hash = await sendTransaction(walletOf(account), {
    ...batchCall({ account: address, calls }),
    account,
    chain: chain.chain,
    ...(gas === undefined ? {} : { gas }),
  })
  return waitForTransactionReceipt(reader, { hash })
}

/** The error with which a change of a delegation ends. */
export const failure = (work: Promise<unknown>): Promise<DelegationError> =>
  work.then(
    () => expect.unreachable(),
    (error: DelegationError) => error,
  )

/** A client of the chain whose node answers some requests otherwise. */
export function nodeThat(
  account: PrivateKeyAccount,
  answer: (
    method: string,
    params: readonly unknown[],
  ) => Promise<{ answer: unknown } | undefined>,
) {
  return createClient({
    account,
    chain: chain.chain,
    transport: custom(
      {
        request: async ({ method, params }) => {
          const own = await answer(method, params ?? [])
          return own ? own.answer : reader.request({ method, params } as never)
        },
      },
      { retryCount: 0 },
    ),
  })
}
