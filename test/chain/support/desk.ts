import {
  buildCancellation,
  buildPayment,
  type Payment,
  type SignedCancellation,
  type SignedPayment,
  signCancellation,
} from 'countersign'
import type { DevChain } from 'countersign/devchain'
import {
  type Account,
  type Address,
  type Client,
  createClient,
  custom,
  type Hash,
  type Hex,
  keccak256,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import {
  getBlock,
  getTransactionCount,
  waitForTransactionReceipt,
} from 'viem/actions'
import { typedDataTypes } from '../../../src/core/typedDataTypes.js'
import { cancelPageOf } from './settle.js'

type Draft = Partial<Omit<Parameters<typeof buildPayment>[0], 'from'>> & {
  /** Who signs; pays as well unless `from` names a contract wallet. */
  signer?: PrivateKeyAccount | undefined
  from?: Address | undefined
}

/** 12.50 from the chain's payer to its merchant, valid now on the chain. */
export async function draft(
  chain: DevChain,
  changes: Draft = {},
): Promise<SignedPayment> {
  const { signer = chain.clients.payer.account, ...fields } = changes
  const { timestamp } = await getBlock(chain.clients.public)
  const payment = buildPayment({
    domain: domainOf(chain.token),
    to: chain.clients.merchant.account.address,
    amount: '12.50',
    now: timestamp,
    ...fields,
    from: fields.from ?? signer.address,
  })
  return { ...payment, signature: await sign(signer, payment) }
}

function sign(
  signer: PrivateKeyAccount,
  { domain, primaryType, message }: Payment,
): Promise<Hex> {
  const typed = { domain, types: typedDataTypes, primaryType, message }
  return signer.signTypedData(
    typed as Parameters<typeof signer.signTypedData>[0],
  )
}

export function domainOf(
  token: Address,
  name = 'USD Coin',
  version = '2',
): Payment['domain'] {
  return { name, version, chainId: 31337, verifyingContract: token }
}

export async function revoke(
  chain: DevChain,
  payment: Payment,
  account: PrivateKeyAccount = chain.clients.payer.account,
): Promise<SignedCancellation> {
  const cancellation = buildCancellation({ payment })
  const wallet = { account, request: async () => '0x7a69' }
  return signCancellation(wallet, {
    cancellation,
    expect: cancelPageOf(cancellation),
  })
}

export function newAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

export function randomHash(): Hash {
  return keccak256(generatePrivateKey())
}

/** Waits for a block: the node answers a send before it has mined. */
export async function mined(
  { clients }: DevChain,
  sent: Promise<Hash>,
): Promise<Hash> {
  const hash = await sent
  await waitForTransactionReceipt(clients.public, { hash })
  return hash
}

/** An account with a little ether and, as a payer, tokens. */
export async function fundedAccount(
  chain: DevChain,
  tokens = 0n,
): Promise<PrivateKeyAccount> {
  const account = newAccount()
  const { address } = account
  await chain.clients.test.setBalance({ address, value: 10n ** 18n })
  if (tokens) await chain.mint({ to: address, value: tokens })
  return account
}

export function countOf(chain: DevChain, account: Account): Promise<number> {
  return getTransactionCount(chain.clients.public, {
    address: account.address,
    blockTag: 'pending',
  })
}

export type Asked = { method: string; params?: unknown }

/** A client whose node is the chain with one function in front of it. */
export function fakeNode(
  chain: DevChain,
  answer: (
    request: Asked,
    forward: () => Promise<unknown>,
  ) => Promise<unknown> = (_, forward) => forward(),
  account?: Account | Address | undefined,
): { client: Client; asked: Asked[]; methods: () => string[] } {
  const asked: Asked[] = []
  const request = async (sent: Asked) => {
    asked.push(sent)
    return answer(sent, () => chain.clients.public.request(sent as never))
  }
  const client = createClient({
    ...(account ? { account } : {}),
    chain: chain.chain,
    pollingInterval: 20,
    transport: custom({ request }, { retryCount: 0 }),
  })
  return { client, asked, methods: () => asked.map(({ method }) => method) }
}

/** What a node answers as an error. */
export function rpcError(
  code: number,
  message: string,
  data?: unknown,
): Error & { code: number; data?: unknown } {
  return Object.assign(new Error(message), { code, data })
}
