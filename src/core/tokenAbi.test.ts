import {
  type Address,
  encodeEventTopics,
  toEventHash,
  toFunctionSelector,
  toFunctionSignature,
} from 'viem'
import { expect, test } from 'vitest'
import { authorizationStateCall } from '../chain/state/getAuthorizationState.js'
import { balanceCall } from '../payments/verify/rehearse.js'
import { eip3009Abi, selectors, tokenSelectors, topics } from './tokenAbi.js'

const vrs = 'uint8,bytes32,bytes32'
const payment = 'address,address,uint256,uint256,uint256,bytes32'

const all = { ...selectors, ...tokenSelectors }

const signatures: Record<keyof typeof all, string> = {
  transferVrs: `transferWithAuthorization(${payment},${vrs})`,
  transferBytes: `transferWithAuthorization(${payment},bytes)`,
  receiveVrs: `receiveWithAuthorization(${payment},${vrs})`,
  receiveBytes: `receiveWithAuthorization(${payment},bytes)`,
  cancelVrs: `cancelAuthorization(address,bytes32,${vrs})`,
  cancelBytes: 'cancelAuthorization(address,bytes32,bytes)',
  decimals: 'decimals()',
  domainSeparator: 'DOMAIN_SEPARATOR()',
  eip712Domain: 'eip712Domain()',
  isBlacklisted: 'isBlacklisted(address)',
  isFrozen: 'isFrozen(address)',
  name: 'name()',
  paused: 'paused()',
  version: 'version()',
}

test('every selector is the hash of its function', () => {
  const computed = Object.entries(signatures).map(([name, signature]) => [
    name,
    toFunctionSelector(signature).slice(2),
  ])
  expect(all).toEqual(Object.fromEntries(computed))
})

test('what is asked around a payment is called by its hash too', () => {
  const account: Address = `0x${'1'.repeat(40)}`
  const calls = [
    authorizationStateCall(account, account, `0x${'2'.repeat(64)}`),
    balanceCall(account, account),
  ]
  expect(calls.map(({ data }) => `0x${data.slice(0, 8)}`)).toEqual([
    toFunctionSelector('authorizationState(address,bytes32)'),
    toFunctionSelector('balanceOf(address)'),
  ])
})

test('every topic is the hash of its event', () => {
  expect(topics).toEqual({
    used: toEventHash('AuthorizationUsed(address,bytes32)'),
    canceled: toEventHash('AuthorizationCanceled(address,bytes32)'),
    transfer: toEventHash('Transfer(address,address,uint256)'),
  })
})

test('the ABI holds the seven functions a payment needs', () => {
  const functions = eip3009Abi.filter((item) => item.type === 'function')
  expect(functions.map((item) => toFunctionSignature(item))).toEqual([
    signatures.transferVrs,
    signatures.transferBytes,
    signatures.receiveVrs,
    signatures.receiveBytes,
    signatures.cancelVrs,
    signatures.cancelBytes,
    'authorizationState(address,bytes32)',
  ])
})

test.each([
  ['AuthorizationUsed', topics.used],
  ['AuthorizationCanceled', topics.canceled],
  ['Transfer', topics.transfer],
] as const)('the event %s of the ABI has its topic', (eventName, topic) => {
  expect(encodeEventTopics({ abi: eip3009Abi, eventName })).toEqual([topic])
})
