import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'
import {
  type FormatOptions,
  formatTypedData,
  type RegistryIndex,
} from '@ethereum-sourcify/clear-signing'
import { Ajv2020 } from 'ajv/dist/2020.js'
import {
  buildCancellation,
  buildPayment,
  knownTokens,
  signCancellation,
  signPayment,
} from 'countersign'
import {
  buildCheckoutPayment,
  buildPermitPayment,
  checkout,
  checkoutAddress,
  permitCheckout,
  signPermitCancellation,
} from 'countersign/checkout'
import {
  buildSpendPermission,
  signSpendPermission,
} from 'countersign/subscriptions'
import { TypedDataEncoder } from 'ethers'
import { getAddress, keccak256, stringToHex } from 'viem'
import { expect, test } from 'vitest'
import {
  type Description,
  type Descriptor,
  describeTypedData,
} from '../../../../scripts/describeTypedData.js'
import { descriptorFiles } from '../../../../scripts/writeDescriptors.js'
import { asked, fakeWallet, payer } from '../../support/fakeWallet.js'

type TypedData = Parameters<typeof describeTypedData>[1]

const folder = 'descriptors'
const paths = readdirSync(folder).filter((path) => /\.json$/.test(path))
const load = (path: string) =>
  JSON.parse(readFileSync(`${folder}/${path}`, 'utf8'))
const descriptors = paths.map((path): Descriptor => load(path))

const shop = '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc'
const token = '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'
const now = 1_800_000_000n
const common = {
  domain: {
    name: 'USD Coin',
    version: '2',
    chainId: 8453,
    verifyingContract: token,
  },
  from: payer,
  to: shop,
  now,
} as const
const terms = { chainId: 8453, token, to: shop } as const
const wide = { maxWindow: 10n ** 10n }

/** What a wallet gets when this library asks it to sign each message. */
const wallet = fakeWallet()
for (const primaryType of [
  'ReceiveWithAuthorization',
  'TransferWithAuthorization',
] as const)
  await signPayment(wallet, {
    payment: buildPayment({ ...common, amount: '12.50', primaryType }),
    expect: { ...terms, amount: '12.50', primaryType, ...wide },
  })
const exact = buildPayment({ ...common, amount: '12.50' })
const permit = buildPermitPayment({ ...common, atMost: '50', nonce: 3n })
await signPayment(wallet, {
  payment: buildCheckoutPayment({ ...common, atMost: '50' }),
  expect: { ...terms, atMost: '50', operator: shop, ...wide },
  kind: checkout,
})
await signCancellation(wallet, {
  cancellation: buildCancellation({ payment: exact }),
  expect: { chainId: 8453, token, nonce: exact.message.nonce },
})
await signPayment(wallet, {
  payment: permit,
  expect: { ...terms, atMost: '50', operator: shop, ...wide },
  kind: permitCheckout,
})
await signPermitCancellation(wallet, { payment: permit })
const charges = {
  chainId: 8453,
  token,
  spender: shop,
  allowance: '9.99',
  period: 2_592_000n,
} as const
for (const periods of [12, undefined])
  await signSpendPermission(wallet, {
    permission: buildSpendPermission({
      ...charges,
      account: payer,
      start: now,
      ...(periods && { periods }),
    }),
    expect: charges,
  })
const signed = asked(wallet).map(
  ({ params }): TypedData => JSON.parse((params as string[])[1] ?? ''),
)

function find(
  typedData: TypedData,
  names: Record<string, string> = {},
): Description {
  const [found, ...others] = descriptors.flatMap(
    (one) => describeTypedData(one, typedData, { names }) ?? [],
  )
  expect(others).toEqual([])
  if (!found) throw new Error(`No descriptor of ${typedData.primaryType}`)
  return found
}

const rowsOf = (typedData: TypedData | undefined) =>
  typedData &&
  find(typedData).rows.map(({ label, value }) => `${label}: ${value}`)

test('the files are what the script writes', () => {
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.json$/.test(path))
    .map((path) => path.replaceAll('\\', '/'))
  const expected = descriptorFiles()

  expect(written.sort()).toEqual([...expected.keys()].sort())
  for (const [path, text] of expected)
    expect(readFileSync(`${folder}/${path}`, 'utf8'), path).toBe(text)
})

test('each descriptor follows the schema of ERC-7730, version 2', () => {
  const file =
    process.env.COUNTERSIGN_ERC7730_SCHEMA ??
    'test/unit/support/erc7730.schema.json'
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const validate = ajv.compile(JSON.parse(readFileSync(file, 'utf8')))

  for (const descriptor of descriptors) {
    validate(descriptor)
    expect(validate.errors).toBeNull()
  }
})

test('each type that this library signs has a descriptor, and no other has', () => {
  const types = signed.map(
    ({ types: { EIP712Domain: _, ...rest }, primaryType }) =>
      TypedDataEncoder.from(
        Object.fromEntries(
          Object.entries(rest).map(([name, fields]) => [name, [...fields]]),
        ),
      ).encodeType(primaryType),
  )

  expect(
    descriptors.flatMap(({ display }) => Object.keys(display.formats)).sort(),
  ).toEqual([...new Set(types)].sort())
})

test('each descriptor has a field for each member of its message', () => {
  for (const { display } of descriptors)
    for (const [type, { fields }] of Object.entries(display.formats)) {
      const members = type.replace(/^\w+\(|\)$/g, '').split(',')
      const paths = fields.flatMap(({ path }) => path ?? [])
      expect(paths.sort(), type).toEqual(
        members.map((member) => member.split(' ')[1]).sort(),
      )
    }
})

test('no descriptor hides an amount, an account or a date', () => {
  const hidden = descriptors.flatMap(({ display }) =>
    Object.values(display.formats).flatMap(({ fields }) =>
      fields.filter(({ visible }) => visible === 'never'),
    ),
  )

  expect(new Set(hidden.map(({ path }) => path))).toEqual(
    new Set(['nonce', 'salt', 'extraData']),
  )
})

test('each descriptor of a token is for all known tokens', () => {
  for (const { context, metadata } of descriptors)
    if (metadata.contractName === 'USDC')
      expect(context.eip712.deployments).toEqual(
        knownTokens.map(({ chainId, address }) => ({
          chainId,
          address: getAddress(address),
        })),
      )
})

test('what is to be submitted names no token that the registry has', () => {
  const chains = [...descriptorFiles(true)].flatMap(([path, text]) =>
    /testsv2/.test(path)
      ? []
      : [
          [
            path,
            (JSON.parse(text) as Descriptor).context.eip712.deployments.map(
              ({ chainId }) => chainId,
            ),
          ],
        ],
  )

  expect(Object.fromEntries(chains)).toMatchObject({
    'eip712-ReceiveWithAuthorization.json': [84532, 11155111, 143],
    'eip712-TransferWithAuthorization.json': [84532, 11155111, 143],
    'eip712-Permit.json': [84532, 11155111, 143],
    'eip712-CancelAuthorization.json': knownTokens.map(
      ({ chainId }) => chainId,
    ),
  })
})

test('a buyer sees amount, accounts and times of what they sign', () => {
  const [receive, transfer, ceiling, cancel, permitted, withdrawn] = signed
  const [, , , , , , limited, endless] = signed
  const from = `From: ${getAddress(payer)}`
  const window = [
    'Valid after: 2027-01-15 07:59:00Z',
    'Valid before: 2027-01-15 08:15:00Z',
  ]
  const paid = ['Amount: 12.5 USDC', `To: ${getAddress(shop)}`, from, ...window]

  expect(rowsOf(receive)).toEqual(paid)
  expect(rowsOf(transfer)).toEqual(paid)
  expect(rowsOf(ceiling)).toEqual([
    'Amount: 50 USDC',
    `To: ${getAddress(checkoutAddress)}`,
    from,
    ...window,
  ])
  expect(rowsOf(cancel)).toEqual([
    from,
    `Payment nonce: ${exact.message.nonce}`,
  ])
  const allowed = [
    `Taken by: ${getAddress(permit.message.to)}`,
    from,
    'Valid until: 2027-01-15 08:14:59Z',
  ]
  expect(rowsOf(permitted)).toEqual(['At most: 50 USDC', ...allowed])
  expect(rowsOf(withdrawn)).toEqual(['At most: 0 USDC', ...allowed])
  const repeated = [
    'At most, each period: 9.99 USDC',
    `Token: ${getAddress(token)}`,
    'Period: 720:00:00',
    `Taken by: ${getAddress(shop)}`,
    from,
    'First period from: 2027-01-15 08:00:00Z',
  ]
  const repeats = 'Repeats: Every period, until you revoke it or it ends'
  expect(rowsOf(limited)).toEqual([
    ...repeated,
    'Ends: 2028-01-10 08:00:00Z',
    repeats,
  ])
  expect(rowsOf(endless)).toEqual([...repeated, repeats])
})

/** The registry's index, of our files. */
const typedDataIndex: RegistryIndex['typedDataIndex'] = {}
for (const [at, { context, display }] of descriptors.entries())
  for (const { chainId, address } of context.eip712.deployments)
    for (const type of Object.keys(display.formats)) {
      const place = `eip155:${chainId}:${address.toLowerCase()}`
      typedDataIndex[place] ??= {}
      typedDataIndex[place][type.replace(/\(.*/, '')] = [
        {
          path: paths[at] ?? '',
          encodeTypeHashes: [keccak256(stringToHex(type))],
        },
      ]
    }

/** Names that a wallet knows. */
const contacts: Record<string, string> = {
  [payer]: 'My wallet',
  [shop]: 'The shop',
  [checkoutAddress]: 'The checkout contract',
  [permit.message.to]: 'The permit contract',
  [token]: 'The token',
}

const reference: FormatOptions = {
  descriptorResolverOptions: {
    type: 'custom',
    resolver: {
      index: { calldataIndex: {}, typedDataIndex },
      fetchDescriptor: async (path) => load(path),
    },
  },
  externalDataProvider: {
    resolveLocalName: async (address) => ({
      name: contacts[address.toLowerCase()] ?? '',
      typeMatch: true,
    }),
    resolveToken: async (chainId, address) =>
      knownTokens.find(
        (one) =>
          one.chainId === chainId && one.address === address.toLowerCase(),
      ) ?? null,
  },
}

test('the reference implementation shows the same rows and no warning', async () => {
  expect(signed).toHaveLength(8)
  for (const typedData of signed) {
    const shown = await formatTypedData(
      { ...typedData, account: payer } as never,
      reference,
    )
    const { intent, sentence, rows } = find(typedData, contacts)

    expect(
      {
        intent: shown.intent,
        sentence: shown.interpolatedIntent,
        rows: shown.fields?.map((field) =>
          'value' in field
            ? { label: field.label, value: field.value }
            : undefined,
        ),
        warnings: [
          ...(shown.warnings ?? []),
          ...(shown.fields ?? []).flatMap(({ warning }) => warning ?? []),
        ],
      },
      typedData.primaryType,
    ).toEqual({ intent, sentence, rows, warnings: [] })
  }
})
