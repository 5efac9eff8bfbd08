import { encodeFunctionData, type Hex, multicall3Abi } from 'viem'
import { expect, test } from 'vitest'
import {
  encodeMulticall,
  multicallAddress,
} from '../../../src/payments/capture/multicall.js'

const bytes = (length: number): Hex => `0x${'ab'.repeat(length)}`

test.each([
  [[]],
  [[0]],
  [[1, 31, 32, 33]],
  [Array.from({ length: 100 }, () => 292)],
])('calls of %j bytes are encoded as viem does', (lengths) => {
  const calls = lengths.map((length, at) => ({
    to: `0x${String(at).padStart(40, '0')}` as const,
    data: bytes(length),
  }))
  const args = calls.map(({ to, data }) => ({
    target: to,
    allowFailure: true,
    callData: data,
  }))
  expect(encodeMulticall(calls)).toBe(
    encodeFunctionData({
      abi: multicall3Abi,
      functionName: 'aggregate3',
      args: [args],
    }),
  )
  expect(multicallAddress).toBe(multicallAddress.toLowerCase())
})
