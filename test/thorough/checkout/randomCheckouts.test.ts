import { buildCancellation, cancelCall, formatAmount } from 'countersign'
import {
  buildCheckoutPayment,
  buildPermitPayment,
  type CheckoutPayment,
  checkout,
  checkoutAddress,
  checkoutCall,
  type PermitPayment,
  signPermitCancellation,
} from 'countersign/checkout'
import { type Address, encodeFunctionData, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { setBalance } from 'viem/actions'
import { expect, test } from 'vitest'
import { permitCheckoutAbi } from '../../../src/checkout/contracts/PermitCheckout.generated.js'
import {
  hashPermit,
  permitMessage,
} from '../../../src/checkout/parsePermitPayment.js'
import { isFull, seed, startChance } from '../../chain/support/chaos.js'
import {
  balanceOf,
  chain,
  chainTime,
  client,
  newAddress,
  node,
  usdc,
  domain as usdcDomain,
} from '../../chain/support/checkoutDesk.js'
import {
  amountIn,
  type CheckoutModel,
  type ModelPayment,
  modelCapture,
  modelPermit,
  modelTransfer,
} from '../../chain/support/checkoutModel.js'
import {
  allowanceOf,
  domain as permitDomain,
  permitPayer,
  token as permitToken,
  recipient,
  spender,
  tokenAbi,
} from '../../chain/support/permitDesk.js'
import { sign } from '../../chain/support/signing.js'

const sequences = isFull ? 10_000 : 500
const steps = 8
const timeout = isFull ? 6_000_000 : 600_000

type Door = ModelPayment['door']
type Signed = { signature: Hex; model: ModelPayment } & (
  | { door: 'authorization'; payment: CheckoutPayment }
  | { door: 'permit'; payment: PermitPayment }
)
type Call = { to: Address; data: Hex }

const tokens = { authorization: usdc, permit: permitToken } as const
const contracts = { authorization: checkoutAddress, permit: spender } as const
const stranger = newAddress()
const payers = [await permitPayer(1000n), await permitPayer(1000n)] as const
for (const { address } of payers)
  await chain.mint({ to: address, value: 1000n })
for (const address of [stranger, recipient, ...payers.map((it) => it.address)])
  await setBalance(node, { address, value: 10n ** 24n })
await node.setAutomine(true)
await node.request({
  method: 'anvil_autoImpersonateAccount' as never,
  params: [true] as never,
})

let time = (await chainTime()) + 1000n
let authorizations = 0n

/** Sends a call in a block of its own, one second or more after the last. */
async function post(from: Address, call: Call, seconds = 1n): Promise<boolean> {
  time += seconds
  await node.setNextBlockTimestamp({ timestamp: time })
  const hash = await client.request({
    method: 'eth_sendTransaction' as never,
    params: [{ from, ...call, gas: '0x7a120' }] as never,
  })
  // Anvil mines right after it answers.
  for (let looks = 0; looks < 10_000; looks++) {
    const receipt = await client.request({
      method: 'eth_getTransactionReceipt',
      params: [hash],
    })
    if (receipt) return receipt.status === '0x1'
  }
  throw new Error('The transaction was not mined.')
}

async function openModel(door: Door): Promise<CheckoutModel> {
  const token = tokens[door]
  const balances = new Map<Address, bigint>()
  for (const account of [recipient, ...payers.map((it) => it.address)])
    balances.set(account, await balanceOf(account, token))
  return {
    balances,
    recipient,
    usedNonces: new Set(),
    permitNonces: new Map(),
    allowances: new Map(),
    capturedPermits: new Set(),
  }
}

async function signCeiling(
  door: Door,
  payer: PrivateKeyAccount,
  {
    ceiling,
    validAfter,
    validBefore,
    nonce,
  }: Pick<ModelPayment, 'ceiling' | 'validAfter' | 'validBefore' | 'nonce'>,
): Promise<Signed> {
  const fields = {
    from: payer.address,
    to: recipient,
    atMost: formatAmount(ceiling),
    validBefore,
    now: time,
  }
  const model: ModelPayment = {
    door,
    payer: payer.address,
    ceiling,
    validAfter,
    validBefore,
    nonce,
  }
  if (door === 'authorization') {
    const payment = buildCheckoutPayment({
      ...fields,
      domain: usdcDomain,
      validAfter,
    })
    return { door, payment, model, signature: await sign(payer, payment) }
  }
  const payment = buildPermitPayment({ ...fields, domain: permitDomain, nonce })
  const signature = await payer.sign({ hash: hashPermit(payment) })
  return { door, payment, model, signature }
}

/** The capture; a permit's as the contract's own ABI has it. */
function captureOf(signed: Signed, amount: bigint, tampered: boolean): Call {
  const { payment, signature } = signed
  const bad: Hex = `0x${signature.slice(2, 10)}${'5'.repeat(8)}${signature.slice(18)}`
  const used = tampered ? bad : signature
  if (signed.door === 'permit') {
    const { owner, value, nonce, deadline } = permitMessage(signed.payment)
    const permit = {
      token: permitToken,
      payer: owner as Address,
      ceiling: value,
      nonce,
      deadline,
    }
    const args = [permit, amount, used] as const
    return {
      to: payment.message.to,
      data: encodeFunctionData({
        abi: permitCheckoutAbi,
        functionName: 'capture',
        args,
      }),
    }
  }
  const call = checkoutCall({
    payment: { ...signed.payment, signature: used },
    amount: '0.000001',
  })
  // Amounts that our own code refuses are tried too.
  const at = 2 + 8 + 8 * 64
  const word = amount.toString(16).padStart(64, '0')
  const { data } = call
  return {
    to: call.to,
    data: `0x${data.slice(2, at)}${word}${data.slice(at + 64)}`,
  }
}

async function submitOf(
  signed: Signed & { door: 'permit' },
  payer: PrivateKeyAccount,
  cancels: boolean,
): Promise<Call> {
  const { payment, signature } = signed
  const wallet = { account: payer, request: client.request }
  if (cancels) return signPermitCancellation(wallet, { payment })
  const { value, deadline } = permitMessage(payment)
  const args = [
    payer.address,
    spender,
    value,
    deadline,
    Number(`0x${signature.slice(130)}`),
    `0x${signature.slice(2, 66)}`,
    `0x${signature.slice(66, 130)}`,
  ] as const
  return {
    to: permitToken,
    data: encodeFunctionData({ abi: tokenAbi, functionName: 'permit', args }),
  }
}

type Run = {
  door: Door
  model: CheckoutModel
  signed: Signed[]
  random: () => number
}

/** Makes one random step in the model and on the chain; both must agree. */
async function step(run: Run): Promise<[string, boolean, boolean]> {
  const { door, model, signed, random } = run
  const draw = (count: number) => Math.floor(random() * count)
  const seconds = BigInt(1 + (draw(4) === 0 ? draw(30) : 0))
  const payer = payers[draw(2)] ?? payers[0]
  const chosen = signed[draw(signed.length)]
  const kind = draw(10)
  if (!chosen || kind < 2) {
    const next = amountIn(model.permitNonces, payer.address)
    const one = await signCeiling(door, payer, {
      ceiling: BigInt(1 + draw(400)),
      validAfter: time - BigInt(draw(20)) + 3n,
      validBefore: time + BigInt(5 + draw(60)),
      nonce:
        door === 'permit'
          ? next + BigInt(draw(4) === 0 ? 1 : 0)
          : authorizations++,
    })
    signed.push(one)
    return ['sign', true, true]
  }
  const owner = payers.find((it) => it.address === chosen.model.payer) ?? payer
  if (kind < 7) {
    const { ceiling } = chosen.model
    const amounts = [0n, 1n, ceiling, ceiling + 1n]
    const amount =
      draw(3) === 0
        ? (amounts[draw(4)] ?? 0n)
        : 1n + BigInt(draw(Number(ceiling)))
    const tampered = draw(8) === 0
    const byOperator = draw(8) !== 0
    const from = byOperator ? recipient : stranger
    const call = captureOf(chosen, amount, tampered)
    const happened = await post(from, call, seconds)
    const payment = chosen.model
    const expected = modelCapture(model, {
      payment,
      amount,
      tampered,
      byOperator,
      time,
    })
    return [`capture ${amount} of ${ceiling}`, happened, expected]
  }
  if (kind === 7) {
    const value = BigInt(draw(300))
    const other = payers.find((it) => it !== payer) ?? payer
    const to = draw(2) === 0 ? other.address : recipient
    return sendTokens(run, payer.address, to, { value, seconds })
  }
  if (chosen.door === 'permit') {
    const cancels = draw(2) === 0
    const call = await submitOf(chosen, owner, cancels)
    const happened = await post(stranger, call, seconds)
    const value = cancels ? 0n : chosen.model.ceiling
    const expected = modelPermit(model, chosen.model, { value, time })
    return [cancels ? 'cancel' : 'submit', happened, expected]
  }
  const cancellation = buildCancellation({
    payment: chosen.payment,
    kind: checkout,
  })
  const signature = await sign(owner, cancellation)
  const call = cancelCall({ cancellation: { ...cancellation, signature } })
  const happened = await post(stranger, call, seconds)
  const { nonce } = chosen.model
  const expected = !model.usedNonces.has(nonce)
  model.usedNonces.add(nonce)
  return ['cancel', happened, expected]
}

async function sendTokens(
  { door, model }: Run,
  from: Address,
  to: Address,
  { value, seconds }: { value: bigint; seconds: bigint },
): Promise<[string, boolean, boolean]> {
  const data = encodeFunctionData({
    abi: tokenAbi,
    functionName: 'transfer',
    args: [to, value],
  })
  const happened = await post(from, { to: tokens[door], data }, seconds)
  return ['send', happened, modelTransfer(model, from, to, value)]
}

/** Gives what the merchant earned back to the payers. */
async function payBack(run: Run): Promise<void> {
  const earned = amountIn(run.model.balances, recipient)
  for (const { address } of payers) {
    const value = earned / 2n
    await sendTokens(run, recipient, address, { value, seconds: 1n })
  }
}

async function compare({ door, model }: Run, seen: string): Promise<void> {
  const token = tokens[door]
  for (const [account, held] of model.balances)
    expect({ seen, account, held: await balanceOf(account, token) }).toEqual({
      seen,
      account,
      held,
    })
  expect(await balanceOf(contracts[door], token)).toBe(0n)
  if (door === 'authorization') return
  for (const { address } of payers)
    expect({ seen, allowed: await allowanceOf(address) }).toEqual({
      seen,
      allowed: amountIn(model.allowances, address),
    })
}

const doors: readonly (readonly [Door, number])[] = [
  ['authorization', 1],
  ['permit', 2],
]

test.each(doors)(
  `${sequences / 2} random sequences of the %s door do what the model does, seed ${seed}`,
  async (door, place) => {
    const random = startChance(place)
    const model = await openModel(door)
    let captured = 0
    for (let sequence = 0; sequence < sequences / 2; sequence++) {
      const run: Run = { door, model, signed: [], random }
      const seen: string[] = []
      for (let taken = 0; taken < steps; taken++) {
        const [name, happened, expected] = await step(run)
        seen.push(`${name}: ${happened}`)
        expect({ sequence, seen, happened }).toEqual({
          sequence,
          seen,
          happened: expected,
        })
        if (happened && name.startsWith('capture')) captured++
      }
      await compare(run, `${sequence}: ${seen.join(', ')}`)
      await payBack(run)
    }
    // Otherwise the sequences show only refusals.
    expect(captured).toBeGreaterThan(sequences / 8)
  },
  timeout,
)
