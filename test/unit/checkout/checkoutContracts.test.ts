import {
  checkoutAddress,
  checkoutDeployment,
  permitCheckoutAddress,
  permitCheckoutDeployment,
} from 'countersign/checkout'
import { type Address, getContractAddress, type Hex, slice } from 'viem'
import { expect, test } from 'vitest'
import { account } from '../../chain/support/signing.js'

const recipient = account('recipient').address
const operator = account('operator').address

/** Where the deployer puts what a call creates. */
function createdAt({ to, data }: { to: Address; data: Hex }): string {
  return getContractAddress({
    opcode: 'CREATE2',
    from: to,
    salt: slice(data, 0, 32),
    bytecode: slice(data, 32),
  }).toLowerCase()
}

test('the address of the checkout contract follows from its committed code', () => {
  expect(createdAt(checkoutDeployment())).toBe(checkoutAddress)
})

test('the address of a permit checkout follows from code, recipient and operator', () => {
  const parameters = { recipient, operator }
  const address = permitCheckoutAddress(parameters)
  expect(createdAt(permitCheckoutDeployment(parameters))).toBe(address)
  const others = [
    permitCheckoutAddress({ recipient }),
    permitCheckoutAddress({ recipient: operator, operator: recipient }),
  ]
  expect(new Set([address, ...others]).size).toBe(3)
})

test('the recipient is the operator of a permit checkout by default', () => {
  expect(permitCheckoutAddress({ recipient })).toBe(
    permitCheckoutAddress({ recipient, operator: recipient }),
  )
})

test('a mistyped recipient of a permit checkout is refused', () => {
  const mistyped: Address = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293Bc'
  expect(() => permitCheckoutAddress({ recipient: mistyped })).toThrow(
    /recipient/,
  )
})
