import { maxUint256 } from 'viem'
import { expect, test } from 'vitest'
import { deployDevToken } from '../../../src/devchain/deployDevToken.js'
import { devContracts } from '../../../src/devchain/devContracts.js'
import { devAuthority } from '../../../src/devchain/initializeToken.js'
import { sendAs } from '../../../src/devchain/sendAs.js'
import {
  abi,
  blocked,
  capture,
  chain,
  type Form,
  freshPayer,
  invalid,
  merchant,
  notPayee,
  now,
  read,
  receive,
  relayer,
  send,
  sign,
  signatureArgs,
  signed,
  spent,
  tokenAt,
  usdc,
} from '../support/tokenContracts.js'

test('expired comes before used', async () => {
  const validBefore = (await now()) + 1000n
  const { message, signature } = await signed({ validBefore })
  await capture({ message, signature })
  const { result } = await capture({ message, signature, at: validBefore })
  expect(result).toBe('FiatTokenV2: authorization is expired')
})

test('used comes before an invalid signature, the caller before used', async () => {
  const { message, signature } = await signed()
  await capture({ message, signature })
  const bad = await sign(await freshPayer(), receive(message))
  expect((await capture({ message, signature: bad })).result).toBe(spent)
  expect((await capture({ message, signature, by: relayer })).result).toBe(
    notPayee,
  )
})

test('an invalid signature comes before the balance', async () => {
  const { message } = await signed({ value: 3n }, 2n)
  const signature = await sign(await freshPayer(), receive(message))
  expect((await capture({ message, signature })).result).toBe(invalid)
})

test('paused comes before blocked, blocked before the caller', async () => {
  const { payer, message, signature } = await signed()
  await chain.block({ account: payer.address })
  expect((await capture({ message, signature, by: relayer })).result).toBe(
    blocked,
  )
  await chain.pause()
  const { result } = await capture({ message, signature })
  await chain.pause(false)
  expect(result).toBe('Pausable: paused')
})

test('a simulation without a sender is not the payee', async () => {
  const { message, signature } = await signed()
  const { from, to, value, validAfter, validBefore, nonce } = message
  const args = [from, to, value, validAfter, validBefore, nonce, signature]
  expect(await read('receiveWithAuthorization', args)).toBe(notPayee)
})

test('no balance reaches 2^255', async () => {
  const mint = chain.mint({ to: merchant.account.address, value: 2n ** 255n })
  await expect(mint).rejects.toThrow(
    'FiatTokenV2_2: Balance exceeds (2^255 - 1)',
  )
})

test.each([
  ['v, r, s', 2n ** 255n, 'success'],
  ['bytes', maxUint256, 'success'],
  ['bytes', 1n, 'FiatTokenV2: permit is expired'],
] as const)(
  'permit (%s) with the deadline %d: %s',
  async (form, deadline, expected) => {
    const { payer, args } = await signedPermit(deadline, form)
    expect((await send({ functionName: 'permit', args })).result).toBe(expected)
    const allowance = await read('allowance', [
      payer.address,
      merchant.account.address,
    ])
    expect(allowance).toBe(expected === 'success' ? 5n : 0n)
  },
)

test('permit takes a signature once', async () => {
  const { args } = await signedPermit(maxUint256, 'bytes')
  await send({ functionName: 'permit', args })
  const { result } = await send({ functionName: 'permit', args })
  expect(result).toBe('EIP2612: invalid signature')
})

test.each([
  ['2.0', devContracts.fiatTokenV2_0, blocked],
  ['2.1', devContracts.fiatTokenV2_1, blocked],
  ['2.2', devContracts.fiatTokenV2_2, 'success'],
])(
  'a permit of a blocked payer in version %s',
  async (_, contract, expected) => {
    const address = await deployDevToken(chain, { contract })
    const token = await tokenAt(address)
    const { payer, args } = await signedPermit(maxUint256, 'v, r, s', token)
    const block = { functionName: 'blacklist', args: [payer.address] }
    const calls = [{ address, abi, ...block }]
    await sendAs(chain.clients, { from: devAuthority, calls })
    const { result } = await send({ token, functionName: 'permit', args })
    expect(result).toBe(expected)
  },
)

async function signedPermit(deadline: bigint, form: Form, token = usdc) {
  const payer = await freshPayer()
  const owner = payer.address
  const spender = merchant.account.address
  const uint256 = (name: string) => ({ name, type: 'uint256' })
  const address = (name: string) => ({ name, type: 'address' })
  const signature = await payer.signTypedData({
    domain: token.domain,
    types: {
      Permit: [
        address('owner'),
        address('spender'),
        uint256('value'),
        uint256('nonce'),
        uint256('deadline'),
      ],
    },
    primaryType: 'Permit',
    message: { owner, spender, value: 5n, nonce: 0n, deadline },
  })
  return {
    payer,
    args: [owner, spender, 5n, deadline, ...signatureArgs(signature, form)],
  }
}
