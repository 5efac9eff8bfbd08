import { expect, test } from 'vitest'
import {
  type Descriptor,
  describeTypedData,
} from '../../../../scripts/describeTypedData.js'
import { paymentTypedData } from '../../../../src/payments/message/paymentTypedData.js'
import { samplePayment } from '../../../../src/testing/samplePayment.js'

const payment = samplePayment()
const typedData = paymentTypedData(payment)
const { chainId, verifyingContract: address } = payment.domain

function descriptorOf(
  eip712: Partial<Descriptor['context']['eip712']> = {},
): Descriptor {
  return {
    $schema: '',
    context: {
      $id: '',
      eip712: { deployments: [{ chainId, address }], ...eip712 },
    },
    metadata: { owner: '', contractName: '', info: { url: '' } },
    display: {
      formats: {
        'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)':
          {
            intent: 'Pay',
            interpolatedIntent: 'Pay {value} by {validBefore}, {other}',
            fields: [
              {
                path: 'value',
                label: 'Amount',
                format: 'tokenAmount',
                params: { tokenPath: '@.to' },
              },
              {
                path: 'validAfter',
                label: 'After',
                format: 'date',
                visible: { ifNotIn: [0] },
              },
              { path: 'validBefore', label: 'Before', format: 'date' },
              {
                path: 'nonce',
                label: 'Nonce',
                format: 'raw',
                visible: 'never',
              },
            ],
          },
      },
    },
  }
}

const withMessage = (message: Record<string, string>) => ({
  ...typedData,
  message: { ...typedData.message, ...message },
})

test('a descriptor of another chain, contract, domain or type describes nothing', () => {
  const other = '0x0000000000000000000000000000000000000001'
  for (const eip712 of [
    { deployments: [{ chainId: chainId + 1, address }] },
    { deployments: [{ chainId, address: other }] as const },
    { deployments: [] },
    { domain: { name: 'Other' } },
    { domain: { name: payment.domain.name, version: '1' } },
  ] as Partial<Descriptor['context']['eip712']>[])
    expect(describeTypedData(descriptorOf(eip712), typedData)).toBeUndefined()

  expect(
    describeTypedData(descriptorOf(), {
      ...typedData,
      primaryType: 'TransferWithAuthorization',
    }),
  ).toBeUndefined()
})

test('a type with the same name and other members is another type', () => {
  const [first, ...rest] = typedData.types.ReceiveWithAuthorization ?? []
  const types = { ReceiveWithAuthorization: [...rest, first ?? rest[0]] }

  expect(
    describeTypedData(descriptorOf(), { ...typedData, types } as never),
  ).toBeUndefined()
})

test('an amount of an unknown token is shown in units, with the address', () => {
  const described = describeTypedData(
    descriptorOf(),
    withMessage({ value: '12500000' }),
    { tokens: [] },
  )

  expect(described?.rows[0]).toEqual({
    label: 'Amount',
    value:
      '12500000 units of the token 0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  })
})

test('a time that no date can hold is shown as its number', () => {
  const described = describeTypedData(
    descriptorOf(),
    withMessage({ validBefore: `${2n ** 256n - 1n}` }),
  )

  expect(described?.rows.at(-1)?.value).toBe(`${2n ** 256n - 1n}`)
})

test('a row whose value is not worth a look is left out', () => {
  const labels = (validAfter: string) =>
    describeTypedData(descriptorOf(), withMessage({ validAfter }))?.rows.map(
      ({ label }) => label,
    )

  expect(labels('0')).toEqual(['Amount', 'Before'])
  expect(labels('1')).toEqual(['Amount', 'After', 'Before'])
})

test('a brace that names no field stays as it is', () => {
  const described = describeTypedData(
    descriptorOf(),
    withMessage({ value: '12500000', validBefore: '1800000000' }),
  )

  expect(described?.sentence).toBe(
    'Pay 12.5 USDC by 2027-01-15 08:00:00Z, {other}',
  )
})
