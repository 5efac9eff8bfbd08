import { randomBytes } from 'node:crypto'
import { SignTypedDataVersion, TypedDataUtils } from '@metamask/eth-sig-util'
import { hashPayment, type Payment } from 'countersign'
import { loadAccelerator } from 'countersign/accelerate'
import { samplePayment } from 'countersign/testing'
import { TypedDataEncoder } from 'ethers'
import { bytesToHex, getAddress, hashTypedData } from 'viem'
import { typedDataTypes } from '../src/core/typedDataTypes.js'
import { type Candidates, compareTimes, type Row } from './compare.js'

const { EIP712Domain, ...messageTypes } = typedDataTypes

/** Digests a round. */
const hashed = 199

/** Digests of payments nobody hashed before, as wallets spell addresses. */
export async function benchHashPayment(): Promise<Row[]> {
  const { keccak256 } = await loadAccelerator()
  const hashes = {
    ...peerHashes,
    accelerated: (payment: Payment) => hashPayment(payment, { keccak256 }),
  }
  const { ratios, milliseconds } = await compareTimes('countersign', {
    rounds: 30,
    prepare: () => prepare(hashes),
  })
  const { viem = Number.NaN, accelerated = Number.NaN } = ratios
  const sidesOf = (own: string, peer: string): Row['sides'] => ({
    own: ((milliseconds[own] ?? Number.NaN) * 1000) / hashed,
    peer: ((milliseconds[peer] ?? Number.NaN) * 1000) / hashed,
    unit: 'us',
  })
  const peers = [
    { key: 'viem', peer: 'viem hashTypedData', goal: 3.5 },
    { key: 'ethers', peer: 'ethers TypedDataEncoder.hash', goal: 0 },
    { key: 'metamask', peer: 'eth-sig-util eip712Hash', goal: 0 },
  ]
  const fast: Row = {
    name: 'hashPayment, WASM keccak256',
    peer: 'viem hashTypedData',
    ratio: viem / accelerated,
    goal: 15,
    unit: 'time',
    sides: sidesOf('accelerated', 'viem'),
  }
  return [
    ...peers.map(({ key, peer, goal }) => {
      const ratio = ratios[key] ?? Number.NaN
      return {
        name: 'hashPayment',
        peer,
        ratio,
        goal,
        unit: 'time',
        sides: sidesOf('countersign', key),
      }
    }),
    fast,
  ]
}

type Hashes = Record<string, (payment: Payment) => string>

function prepare(hashes: Hashes): Candidates {
  const payments = Array.from({ length: hashed + 1 }, freshPayment)
  const [first] = payments
  const digests = Object.values(hashes).map((hash) => first && hash(first))
  if (new Set(digests).size !== 1) throw new Error('The digests differ.')
  return Object.fromEntries(
    Object.entries(hashes).map(([name, hash]) => [
      name,
      () => payments.slice(1).forEach((payment) => void hash(payment)),
    ]),
  )
}

function freshPayment(): Payment {
  return samplePayment({
    from: getAddress(bytesToHex(randomBytes(20))),
    nonce: bytesToHex(randomBytes(32)),
  })
}

const peerHashes: Hashes = {
  countersign: (payment) => hashPayment(payment),
  viem: ({ domain, primaryType, message }) =>
    hashTypedData({
      domain,
      types: { [primaryType]: messageTypes[primaryType] },
      primaryType,
      message,
    }),
  ethers: ({ domain, primaryType, message }) =>
    TypedDataEncoder.hash(
      domain,
      { [primaryType]: [...messageTypes[primaryType]] },
      message,
    ),
  metamask: ({ domain, primaryType, message }) =>
    bytesToHex(
      TypedDataUtils.eip712Hash(
        {
          types: {
            EIP712Domain: [...EIP712Domain],
            [primaryType]: [...messageTypes[primaryType]],
          },
          primaryType,
          domain,
          message,
        },
        SignTypedDataVersion.V4,
      ),
    ),
}
