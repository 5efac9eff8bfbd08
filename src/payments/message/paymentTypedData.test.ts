import { expect, test } from 'vitest'
import { thrownBy } from '../../../test/unit/support/arbitraries.js'
import { InvalidFieldError } from '../../core/errors.js'
import type { Payment } from '../../core/types.js'
import { samplePayment } from '../../testing/samplePayment.js'
import { buildCancellation } from './buildCancellation.js'
import { paymentTypedData } from './paymentTypedData.js'

test('a payment becomes the payload of eth_signTypedData_v4', () => {
  expect(paymentTypedData(samplePayment())).toMatchInlineSnapshot(`
    {
      "domain": {
        "chainId": 8453,
        "name": "USD Coin",
        "verifyingContract": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        "version": "2",
      },
      "message": {
        "from": "0x1111111111111111111111111111111111111111",
        "nonce": "0x3333333333333333333333333333333333333333333333333333333333333333",
        "to": "0x2222222222222222222222222222222222222222",
        "validAfter": "1750000000",
        "validBefore": "1750000960",
        "value": "12500000",
      },
      "primaryType": "ReceiveWithAuthorization",
      "types": {
        "EIP712Domain": [
          {
            "name": "name",
            "type": "string",
          },
          {
            "name": "version",
            "type": "string",
          },
          {
            "name": "chainId",
            "type": "uint256",
          },
          {
            "name": "verifyingContract",
            "type": "address",
          },
        ],
        "ReceiveWithAuthorization": [
          {
            "name": "from",
            "type": "address",
          },
          {
            "name": "to",
            "type": "address",
          },
          {
            "name": "value",
            "type": "uint256",
          },
          {
            "name": "validAfter",
            "type": "uint256",
          },
          {
            "name": "validBefore",
            "type": "uint256",
          },
          {
            "name": "nonce",
            "type": "bytes32",
          },
        ],
      },
    }
  `)
})

test('a cancellation becomes the payload of eth_signTypedData_v4', () => {
  const cancellation = buildCancellation({ payment: samplePayment() })
  expect(paymentTypedData(cancellation)).toMatchInlineSnapshot(`
    {
      "domain": {
        "chainId": 8453,
        "name": "USD Coin",
        "verifyingContract": "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
        "version": "2",
      },
      "message": {
        "authorizer": "0x1111111111111111111111111111111111111111",
        "nonce": "0x3333333333333333333333333333333333333333333333333333333333333333",
      },
      "primaryType": "CancelAuthorization",
      "types": {
        "CancelAuthorization": [
          {
            "name": "authorizer",
            "type": "address",
          },
          {
            "name": "nonce",
            "type": "bytes32",
          },
        ],
        "EIP712Domain": [
          {
            "name": "name",
            "type": "string",
          },
          {
            "name": "version",
            "type": "string",
          },
          {
            "name": "chainId",
            "type": "uint256",
          },
          {
            "name": "verifyingContract",
            "type": "address",
          },
        ],
      },
    }
  `)
})

test('the payload is JSON as it stands', () => {
  const largest = samplePayment({ value: 2n ** 256n - 1n })
  const payload = paymentTypedData(largest)
  expect(JSON.parse(JSON.stringify(payload))).toEqual(payload)
  expect(payload.message.value).toBe((2n ** 256n - 1n).toString())
  expect(payload.domain.chainId).toBe(8453)
})

test('only the types of this message are in the payload', () => {
  const transfer = samplePayment({ primaryType: 'TransferWithAuthorization' })
  expect(Object.keys(paymentTypedData(transfer).types)).toEqual([
    'EIP712Domain',
    'TransferWithAuthorization',
  ])
})

test('a signature does not pass into the payload', () => {
  const signature = `0x${'5ec2e7'.repeat(21)}0a1b1b` as const
  const signed = { ...samplePayment(), signature }
  const payload = paymentTypedData(signed)
  expect(JSON.stringify(payload)).not.toContain('5ec2e75ec2e7')
  expect(payload).toEqual(paymentTypedData(samplePayment()))
})

test.each<[string, unknown]>([
  ['payment', null],
  ['payment.message.value', samplePayment({ value: 1 as unknown as bigint })],
  ['cancellation.message.nonce', buildCancellationWith({ nonce: '0x1' })],
])('a malformed %s has no payload', (field, given) => {
  const error = thrownBy(() => paymentTypedData(given as Payment))
  expect(error).toBeInstanceOf(InvalidFieldError)
  expect(error).toHaveProperty('details.field', field)
})

function buildCancellationWith(message: object): unknown {
  const cancellation = buildCancellation({ payment: samplePayment() })
  return { ...cancellation, message: { ...cancellation.message, ...message } }
}
