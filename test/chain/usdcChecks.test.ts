import {
  type Address,
  keccak256,
  maxUint256,
  numberToHex,
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  serializeSignature,
  signatureToCompactSignature,
  stringToHex,
  type Hex,
} from 'viem'
import { afterAll, expect, test } from 'vitest'
import { typedDataTypes } from '../../src/base/typedDataTypes.js'
import { flipS } from './signing.js'
import {
  type Answer,
  authority,
  namedAccount,
  startTwins,
  type TwinCall,
} from './twinTokens.js'

const twins = await startTwins()
afterAll(() => twins.stop())

const recipient = namedAccount('recipient').address
const stranger = namedAccount('stranger')
const domain = {
  name: 'USD Coin',
  version: '2',
  chainId: 31337,
  verifyingContract: twins.token,
}

/** What can be wrong about a payment or a cancellation, in the token's order. */
const faults = {
  paused: 'Pausable: paused',
  payerBlocked: 'Blacklistable: account is blacklisted',
  recipientBlocked: 'Blacklistable: account is blacklisted',
  otherCaller: 'FiatTokenV2: caller must be the payee',
  notYetValid: 'FiatTokenV2: authorization is not yet valid',
  expired: 'FiatTokenV2: authorization is expired',
  spent: 'FiatTokenV2: authorization is used or canceled',
  otherSigner: 'FiatTokenV2: invalid signature',
  short: 'ERC20: transfer amount exceeds balance',
} as const

type Fault = keyof typeof faults
const order = Object.keys(faults) as Fault[]

const kinds = {
  receiveWithAuthorization: order,
  transferWithAuthorization: order.filter((it) => it !== 'otherCaller'),
  cancelAuthorization: ['paused', 'spent', 'otherSigner'],
} as const
