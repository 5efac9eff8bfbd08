import { expect, test } from 'vitest'
import { encodeGrant, type Grant } from './grant.js'
import { captureMethods, permissionOf } from './permission.js'
import { permissionIn } from './permissionIn.js'
import { redeemCall } from './redeemCall.js'

const grant: Grant = {
  chainId: 31337,
  treasury: `0x${'1'.repeat(40)}`,
  key: `0x${'2'.repeat(40)}`,
  targets: [`0x${'3'.repeat(40)}`],
  methods: captureMethods(),
  nonce: 4n,
  validBefore: 5n,
  salt: 6n,
}
const signature = `0x${'11'.repeat(64)}1b` as const
const call = { to: `0x${'3'.repeat(40)}`, data: '0xef55bec6' } as const
const { data } = redeemCall(encodeGrant(grant, signature), call)

test('the permission is found in the input of a capture', () => {
  const { chainId } = grant
  expect(permissionIn(data, chainId)).toEqual(permissionOf(grant, signature))
  expect(permissionIn(data.toUpperCase().replace('0X', '0x'), chainId)).toEqual(
    permissionOf(grant, signature),
  )
})

test.each([
  undefined,
  null,
  7,
  '0x',
  '0xef55bec6',
  data.slice(0, 10),
  data.slice(0, 400),
  data.slice(0, 900),
  data.replace('0xcef6d209', '0xcef6d208'),
  data.replace(/2{40}/, 'a'.repeat(38)),
])('there is none in other input: %s', (input) => {
  expect(permissionIn(input, grant.chainId)).toBeUndefined()
})
