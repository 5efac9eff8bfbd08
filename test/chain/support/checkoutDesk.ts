import { buildCancellation, cancelCall } from 'countersign'
import {
  buildCheckoutPayment,
  type CheckoutPayment,
  checkout,
  checkoutAbi,
  checkoutAddress,
  checkoutDeployment,
  type SignedCheckoutPayment,
} from 'countersign/checkout'
import { startDevChain } from 'countersign/devchain'
import {
  type Abi,
  type Address,
  BaseError,
  ContractFunctionRevertedError,
  type Hex,
  hexToBytes,
  parseAbi,
} from 'viem'
import {
  generatePrivateKey,
  type PrivateKeyAccount,
  privateKeyToAccount,
} from 'viem/accounts'
import {
  getBlock,
  getCode,
  readContract,
  sendTransaction,
  setBalance,
  simulateContract,
  waitForTransactionReceipt,
} from 'viem/actions'
import { afterAll } from 'vitest'
import { sign } from './signing.js'

/** The chain of one test file, with Circle's own USDC and both contracts. */
export const chain = await startDevChain({ blockTime: 0, token: 'usdc' })
afterAll(() => chain.stop())

export const { public: client, merchant, test: node } = chain.clients
export const usdc = chain.token
export const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: 31337,
  verifyingContract: usdc,
}

await send(chain.clients.relayer.account.address, checkoutDeployment())

/**
 * Sends a transaction from any account, in a block of the given time if there
 * is one, and returns its receipt.
 */
export async function send(
  account: Address,
  { to, data }: { to: Address; data: Hex },
  timestamp?: bigint,
) {
  if (timestamp !== undefined) await node.setNextBlockTimestamp({ timestamp })
  await setBalance(node, { address: account, value: 10n ** 20n })
  await node.impersonateAccount({ address: account })
  const hash = await sendTransaction(client, {
    account,
    to,
    data,
    gas: 3_000_000n,
    chain: chain.chain,
  })
  return waitForTransactionReceipt(client, { hash, timeout: 0 })
}

/** A payer with 100 tokens that nobody used before. */
export async function fundedPayer(
  value = 100_000_000n,
): Promise<PrivateKeyAccount> {
  const payer = privateKeyToAccount(generatePrivateKey())
  await chain.mint({ to: payer.address, value })
  return payer
}

/** An account without tokens that nobody used before. */
export function newAddress(): Address {
  return privateKeyToAccount(generatePrivateKey()).address
}

export async function chainTime(): Promise<bigint> {
  return (await getBlock(client)).timestamp
}

type Fields = Partial<Parameters<typeof buildCheckoutPayment>[0]>

/** A signed payment of at most 50 tokens to a new recipient. */
export async function signedCheckout(
  payer: PrivateKeyAccount,
  fields: Fields = {},
): Promise<SignedCheckoutPayment> {
  const payment = buildCheckoutPayment({
    domain,
    from: payer.address,
    to: newAddress(),
    atMost: '50.00',
    now: await chainTime(),
    ...fields,
  })
  return { ...payment, signature: await sign(payer, payment) }
}

/** The terms as the contract takes them. */
function termsOf({ domain, message, checkout }: CheckoutPayment) {
  return {
    token: domain.verifyingContract,
    payer: message.from,
    recipient: checkout.recipient,
    operator: checkout.operator,
    ceiling: message.value,
    validAfter: message.validAfter,
    validBefore: message.validBefore,
    salt: checkout.salt,
  }
}

export type Terms = ReturnType<typeof termsOf>

/** A capture as the contract sees it. */
export type Attempt = {
  from: Address
  terms: Terms
  amount: bigint
  signature: Hex
}

/** The capture of a payment by its operator. */
export function attemptOf(
  payment: SignedCheckoutPayment,
  amount: bigint,
): Attempt {
  const { operator: from } = payment.checkout
  const { signature } = payment
  return { from, terms: termsOf(payment), amount, signature }
}

/** Why the contract refuses a capture; `'accepted'` if it does not. */
export async function refusalOf(
  attempt: Attempt,
  address: Address = checkoutAddress,
): Promise<string> {
  const { from, terms, amount, signature } = attempt
  return reasonOf(
    simulateContract(client, {
      address,
      abi: checkoutAbi,
      functionName: 'capture',
      args: [terms, amount, signature],
      account: from,
    }),
  )
}

/** The contract's or the token's reason; `'accepted'` without one. */
export async function reasonOf(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'accepted'
  } catch (error) {
    const reverted =
      error instanceof BaseError
        ? error.walk((one) => one instanceof ContractFunctionRevertedError)
        : undefined
    if (!(reverted instanceof ContractFunctionRevertedError)) throw error
    const { reason, signature, raw } = reverted
    return reason ?? signature ?? raw ?? 'no reason'
  }
}

const erc20: Abi = parseAbi([
  'function balanceOf(address) view returns (uint256)',
])

export async function balanceOf(
  account: Address,
  token: Address = usdc,
): Promise<bigint> {
  const balance = await readContract(client, {
    address: token,
    abi: erc20,
    functionName: 'balanceOf',
    args: [account],
  })
  return BigInt(String(balance))
}

/** The payer's cancellation, sent by somebody else. */
export async function cancel(
  payer: PrivateKeyAccount,
  payment: CheckoutPayment,
): Promise<void> {
  const cancellation = buildCancellation({ payment, kind: checkout })
  const signature = await sign(payer, cancellation)
  const call = cancelCall({ cancellation: { ...cancellation, signature } })
  await send(newAddress(), call)
}

/** The names of the instructions in a contract's code. */
export async function instructionsOf(address: Address): Promise<Set<string>> {
  const code = hexToBytes((await getCode(client, { address })) ?? '0x')
  const found = new Set<string>()
  for (let at = 0; at < code.length; at++) {
    const opcode = code[at] ?? 0
    const name = watchedOpcodes[opcode]
    if (name) found.add(name)
    // PUSH1 to PUSH32 are followed by their bytes.
    if (opcode >= 0x60 && opcode <= 0x7f) at += opcode - 0x5f
  }
  return found
}

const watchedOpcodes: Readonly<Record<number, string>> = {
  84: 'sload',
  85: 'sstore',
  240: 'create',
  241: 'call',
  242: 'callcode',
  244: 'delegatecall',
  245: 'create2',
  255: 'selfdestruct',
}
