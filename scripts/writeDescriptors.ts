/**
 * Writes ERC-7730 descriptors of all messages that buyers sign, with their test
 * cases, as the registry of clear signing wants them:
 *
 *     npx tsx scripts/writeDescriptors.ts                     # descriptors/
 *     npx tsx scripts/writeDescriptors.ts --missing FOLDER    # to submit
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { type Address, getAddress } from 'viem'
import { buildPermitPayment } from '../src/checkout/buildPermitPayment.js'
import {
  permitMessage,
  permitTypedData,
} from '../src/checkout/parsePermitPayment.js'
import { knownTokens } from '../src/core/knownTokens.js'
import { toJson } from '../src/core/toJson.js'
import { typedDataTypes } from '../src/core/typedDataTypes.js'
import type { Payment } from '../src/core/types.js'
import { buildCancellation } from '../src/payments/message/buildCancellation.js'
import { buildPayment } from '../src/payments/message/buildPayment.js'
import { paymentTypedData } from '../src/payments/message/paymentTypedData.js'
import {
  buildSpendPermission,
  spendPermissionManager,
} from '../src/subscriptions/permission/buildSpendPermission.js'
import {
  managerName,
  managerVersion,
} from '../src/subscriptions/permission/parseSpendPermission.js'
import { spendPermissionTypedData } from '../src/subscriptions/permission/spendPermissionTypedData.js'
import {
  type Descriptor,
  type DescriptorField,
  type DescriptorFormat,
  describeTypedData,
  encodeType,
} from './describeTypedData.js'

type TypedData = Parameters<typeof describeTypedData>[1]

type Message = {
  sample: TypedData
  format: DescriptorFormat
  context?: Descriptor['context']['eip712']
  metadata?: Descriptor['metadata']
  /** Chains whose token has a descriptor of this message in the registry. */
  inRegistry?: readonly number[]
}

const schemas = 'https://eips.ethereum.org/assets/eip-7730'

/** Read in the registry on 2026-11-28, where each of these is a file. */
const inRegistry = [1, 10, 137, 8453, 42161, 43114]

const address = (path: string, label: string): DescriptorField => ({
  path,
  label,
  format: 'addressName',
})
const signer = (path: string): DescriptorField => ({
  ...address(path, 'From'),
  params: { types: ['wallet'] },
})
const amount = (
  path: string,
  label: string,
  tokenPath = '@.to',
): DescriptorField => ({
  path,
  label,
  format: 'tokenAmount',
  params: { tokenPath },
})
const date = (path: string, label: string): DescriptorField => ({
  path,
  label,
  format: 'date',
  params: { encoding: 'timestamp' },
})
const hidden = (path: string, label: string): DescriptorField => ({
  path,
  label,
  format: 'raw',
  visible: 'never',
})

const payment: DescriptorFormat = {
  intent: 'Pay',
  interpolatedIntent: 'Pay {value} to {to} before {validBefore}',
  fields: [
    amount('value', 'Amount'),
    address('to', 'To'),
    signer('from'),
    { ...date('validAfter', 'Valid after'), visible: { ifNotIn: [0] } },
    date('validBefore', 'Valid before'),
    hidden('nonce', 'Payment nonce'),
  ],
}

const cancellation: DescriptorFormat = {
  intent: 'Cancel a payment',
  interpolatedIntent: 'Cancel the payment {nonce}',
  fields: [
    signer('authorizer'),
    { path: 'nonce', label: 'Payment nonce', format: 'raw' },
  ],
}

const permit: DescriptorFormat = {
  intent: 'Allow a charge',
  interpolatedIntent: 'Let {spender} take at most {value} until {deadline}',
  fields: [
    amount('value', 'At most'),
    address('spender', 'Taken by'),
    signer('owner'),
    date('deadline', 'Valid until'),
    hidden('nonce', 'Permit nonce'),
  ],
}

/** `end` of a permission that never ends: 2^48 - 1. */
const endless = 281_474_976_710_655

const spendPermission: DescriptorFormat = {
  intent: 'Allow repeated charges',
  interpolatedIntent:
    'Let {spender} take at most {allowance} every {period}, from {start}',
  fields: [
    amount('allowance', 'At most, each period', 'token'),
    { ...address('token', 'Token'), params: { types: ['token'] } },
    { path: 'period', label: 'Period', format: 'duration' },
    address('spender', 'Taken by'),
    signer('account'),
    date('start', 'First period from'),
    { ...date('end', 'Ends'), visible: { ifNotIn: [endless] } },
    {
      label: 'Repeats',
      value: 'Every period, until you revoke it or it ends',
      format: 'raw',
    },
    hidden('salt', 'Salt'),
    hidden('extraData', 'Extra data'),
  ],
}

/** Base Sepolia: the registry has nothing of it, so it is in what we submit. */
const chainId = 84532
const token = knownTokens.find((one) => one.chainId === chainId)
if (!token) throw new Error(`No known token on chain ${chainId}`)

const buyer: Address = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'
const shop: Address = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
const now = 1_800_000_000n
const domain = {
  name: token.name,
  version: token.version,
  chainId,
  verifyingContract: token.address,
}
const samplePayment = (primaryType: Payment['primaryType']): Payment =>
  buildPayment({
    primaryType,
    domain,
    from: buyer,
    to: shop,
    amount: '12.50',
    now,
    nonce: `0x${'17'.repeat(32)}`,
  })
const samplePermit = buildPermitPayment({
  domain,
  from: buyer,
  to: shop,
  atMost: '50',
  now,
  nonce: 3n,
})

/** Where Base published its manager, at one address: `docs/subscriptions.md`. */
const managerChains = [
  8453, 1, 10, 42161, 137, 43114, 84532, 11155420, 11155111,
]

const messages: Record<string, Message> = {
  ReceiveWithAuthorization: {
    sample: paymentTypedData(samplePayment('ReceiveWithAuthorization')),
    format: payment,
    inRegistry,
  },
  TransferWithAuthorization: {
    sample: paymentTypedData(samplePayment('TransferWithAuthorization')),
    format: payment,
    inRegistry,
  },
  CancelAuthorization: {
    sample: paymentTypedData(
      buildCancellation({ payment: samplePayment('ReceiveWithAuthorization') }),
    ),
    format: cancellation,
  },
  Permit: {
    sample: plain(permitTypedData(samplePermit, permitMessage(samplePermit))),
    format: permit,
    inRegistry,
  },
  SpendPermission: {
    sample: plain(
      spendPermissionTypedData(
        buildSpendPermission({
          chainId,
          account: buyer,
          spender: shop,
          token: token.address,
          allowance: '9.99',
          period: 2_592_000n,
          start: now,
          periods: 12,
          salt: 5n,
        }),
      ),
    ),
    format: spendPermission,
    context: {
      domain: { name: managerName, version: managerVersion },
      deployments: managerChains.map((chainId) => ({
        chainId,
        address: getAddress(spendPermissionManager),
      })),
    },
    metadata: {
      owner: 'Base',
      contractName: 'SpendPermissionManager',
      info: { url: 'https://www.base.org/' },
    },
  },
}

/** Typed data as it reaches a wallet: with the domain's type, as JSON. */
function plain({ types, ...rest }: TypedData): TypedData {
  const { EIP712Domain } = typedDataTypes
  return JSON.parse(toJson({ types: { EIP712Domain, ...types }, ...rest }))
}

const circle: Descriptor['metadata'] = {
  owner: 'Circle',
  contractName: 'USDC',
  info: { url: 'https://www.circle.com/' },
}

/** Each file by its path, as text. */
export function descriptorFiles(onlyMissing = false): Map<string, string> {
  const files = new Map<string, string>()
  const add = (path: string, content: object) =>
    files.set(path, `${JSON.stringify(content, null, 2)}\n`)

  for (const [name, message] of Object.entries(messages)) {
    const { sample, format, inRegistry = [], metadata = circle } = message
    const deployments = knownTokens
      .filter(({ chainId }) => !onlyMissing || !inRegistry.includes(chainId))
      .map(({ chainId, address }) => ({
        chainId,
        address: getAddress(address),
      }))
    const descriptor: Descriptor = {
      $schema: `${schemas}/erc7730-v2.schema.json`,
      context: {
        $id: `${metadata.contractName} ${name}`,
        eip712: message.context ?? { deployments },
      },
      metadata,
      display: {
        formats: { [encodeType(name, sample.types[name])]: format },
      },
    }
    add(`eip712-${name}.json`, descriptor)
    add(`testsv2/eip712-${name}.tests.json`, testOf(name, descriptor, sample))
  }
  return files
}

/** The test case that the registry asks for with each descriptor. */
function testOf(
  name: string,
  descriptor: Descriptor,
  sample: TypedData,
): object {
  const described = describeTypedData(descriptor, sample)
  if (!described || !token) throw new Error(`${name} does not fit its sample`)
  const { symbol, decimals } = token
  return {
    descriptor: `../eip712-${name}.json`,
    dataProvider: {
      tokens: { [token.address]: { symbol, decimals, name: token.name } },
    },
    tests: [
      {
        description: `${name} on Base Sepolia`,
        data: sample,
        expected: {
          intent: described.intent,
          interpolatedIntent: described.sentence,
          owner: descriptor.metadata.owner,
          fields: described.rows,
        },
      },
    ],
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [flag, to] = process.argv.slice(2)
  const folder = to ?? fileURLToPath(new URL('../descriptors', import.meta.url))
  if (!to) rmSync(folder, { recursive: true, force: true })
  for (const [path, text] of descriptorFiles(flag === '--missing')) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
