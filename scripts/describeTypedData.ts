import { type Address, getAddress } from 'viem'
import { formatAmount } from '../src/core/amount.js'
import { type KnownToken, knownTokens } from '../src/core/knownTokens.js'
import type { TokenDomain } from '../src/core/types.js'

/** One row of an ERC-7730 descriptor: which value, under which label. */
export type DescriptorField = {
  label: string
  /** Name of a member of the message. Absent if the row is always the same. */
  path?: string
  /** What the row always says. */
  value?: string
  format: 'addressName' | 'tokenAmount' | 'date' | 'duration' | 'raw'
  params?: { tokenPath?: string; encoding?: 'timestamp'; types?: string[] }
  visible?: 'always' | 'never' | { ifNotIn: (string | number)[] }
}

/** What a wallet shows for one type of message. */
export type DescriptorFormat = {
  intent: string
  /** The same as one sentence, with paths in braces. */
  interpolatedIntent?: string
  fields: DescriptorField[]
}

/** The part of ERC-7730 (version 2) that our messages need. */
export type Descriptor = {
  $schema: string
  context: {
    $id: string
    eip712: {
      domain?: { name?: string; version?: string }
      deployments: { chainId: number; address: Address }[]
    }
  }
  metadata: {
    owner: string
    contractName: string
    info: { url: string }
  }
  /** The keys of `formats` are EIP-712 `encodeType` texts. */
  display: { formats: Record<string, DescriptorFormat> }
}

/** Typed data as a wallet gets it. */
type DescribedTypedData = {
  types: Record<string, readonly { name: string; type: string }[]>
  primaryType: string
  domain: TokenDomain
  message: Record<string, unknown>
}

type Sources = {
  /** Tokens whose symbol and decimals are known. @default `knownTokens` */
  tokens?: readonly KnownToken[]
  /** Names to show in place of addresses, by address in lower case. */
  names?: Readonly<Record<string, string>>
}

/** What a person reads before signing. */
export type Description = {
  intent: string
  sentence: string | undefined
  rows: { label: string; value: string }[]
}

/**
 * Describes a message to the person who signs it, as a wallet does that has the
 * descriptor. Returns `undefined` if the descriptor is for another contract,
 * chain or type: show nothing of it then.
 *
 * An amount in an unknown token is shown in units, with the token's address.
 */
export function describeTypedData(
  descriptor: Descriptor,
  typedData: DescribedTypedData,
  { tokens = knownTokens, names = {} }: Sources = {},
): Description | undefined {
  const { primaryType, types, domain, message } = typedData
  const { eip712 } = descriptor.context
  const format =
    descriptor.display.formats[encodeType(primaryType, types[primaryType])]
  const isBound =
    eip712.deployments.some(
      ({ chainId, address }) =>
        chainId === domain.chainId &&
        address.toLowerCase() === domain.verifyingContract.toLowerCase(),
    ) &&
    (eip712.domain?.name ?? domain.name) === domain.name &&
    (eip712.domain?.version ?? domain.version) === domain.version
  if (!format || !isBound) return undefined

  const textAt = (path: string | undefined) =>
    String(path === '@.to' ? domain.verifyingContract : message[path ?? ''])

  const show = ({ path, value, format, params }: DescriptorField): string => {
    const text = value ?? textAt(path)
    if (format === 'addressName')
      return names[text.toLowerCase()] ?? getAddress(text)
    if (format === 'date') return showTime(BigInt(text))
    if (format === 'duration') return showDuration(BigInt(text))
    if (format === 'raw') return text
    const address = textAt(params?.tokenPath).toLowerCase()
    const token = tokens.find(
      (one) => one.chainId === domain.chainId && one.address === address,
    )
    return token
      ? `${formatAmount(BigInt(text), token.decimals)} ${token.symbol}`
      : `${text} units of the token ${getAddress(address)}`
  }

  const { intent, interpolatedIntent, fields } = format
  return {
    intent,
    sentence: interpolatedIntent?.replace(/\{(\w+)\}/g, (braced, path) => {
      const field = fields.find((one) => one.path === path)
      return field ? show(field) : braced
    }),
    rows: fields
      .filter(({ path, visible }) =>
        typeof visible === 'object'
          ? !visible.ifNotIn.map(String).includes(textAt(path))
          : visible !== 'never',
      )
      .map((field) => ({ label: field.label, value: show(field) })),
  }
}

/**
 * The text that EIP-712 hashes for a type without structures inside, such as
 * `CancelAuthorization(address authorizer,bytes32 nonce)`.
 */
export function encodeType(
  name: string,
  fields: readonly { name: string; type: string }[] = [],
): string {
  const members = fields.map((field) => `${field.type} ${field.name}`)
  return `${name}(${members.join(',')})`
}

/** Most seconds that a `Date` can hold. */
const lastSecond = 8_640_000_000_000n

function showTime(seconds: bigint): string {
  return seconds > lastSecond
    ? `${seconds}`
    : new Date(Number(seconds) * 1000)
        .toISOString()
        .replace('T', ' ')
        .replace(/\.\d+/, '')
}

function showDuration(seconds: bigint): string {
  return [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n]
    .map((part) => `${part}`.padStart(2, '0'))
    .join(':')
}
