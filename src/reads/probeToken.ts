import type { Address, Hex } from 'viem'
import { hashDomain } from '../base/hashPayment.js'
import { knownTokens } from '../base/knownTokens.js'
import { selectors } from '../base/tokenAbi.js'
import type { TokenDomain } from '../base/types.js'
import { bytesWords, word } from '../base/words.js'
import { DomainMismatchError, UnsupportedTokenError } from './errors.js'
import type { Call, CallAnswer, TokenCapabilities } from './types.js'

/** Versions in use among tokens that have no `version()` to ask. */
const usualVersions = ['2', '1']

const probeNames = [
  'code',
  'control',
  'name',
  'version',
  'decimals',
  'domainSeparator',
  'eip712Domain',
  'paused',
  'isBlacklisted',
  'isFrozen',
  'receive',
  'transfer',
  'cancel',
  'bytes',
] as const

/** The calls that tell what a token is, in the order of `probeNames`. */
export function tokenProbes(token: Address, prober: Address): readonly Call[] {
  const junk = '0x01'
  const message =
    word(token) + word(prober) + word(1) + word(0) + word(junk) + word(junk)
  const vrs = word(27) + word(junk) + word(junk)
  const data = {
    code: '',
    control: '3009dead',
    name: selectors.name,
    version: selectors.version,
    decimals: selectors.decimals,
    domainSeparator: selectors.domainSeparator,
    eip712Domain: selectors.eip712Domain,
    paused: selectors.paused,
    isBlacklisted: selectors.isBlacklisted + word(prober),
    isFrozen: selectors.isFrozen + word(prober),
    receive: selectors.receiveVrs + message + vrs,
    transfer: selectors.transferVrs + message + vrs,
    cancel: selectors.cancelVrs + word(prober) + word(junk) + vrs,
    bytes:
      selectors.cancelBytes +
      word(prober) +
      word(junk) +
      word(96) +
      bytesWords(`0x${vrs.slice(62)}`),
  }
  return probeNames.map((probe) => ({
    target: token,
    data: data[probe],
    gas: probe === 'code' ? 0 : 100_000,
  }))
}

type Probes = Record<(typeof probeNames)[number], CallAnswer | undefined>

export function readCapabilities(answers: readonly CallAnswer[]): {
  capabilities: TokenCapabilities
  decimals: number
  hasCode: boolean
} {
  const probes = named(answers)
  const refuses = (answer: CallAnswer | undefined) =>
    answer?.ok === false &&
    answer.data !== '0x' &&
    answer.data !== probes.control?.data
  const tells = (answer: CallAnswer | undefined) =>
    answer?.ok === true && answer.data.length === 66
  const decimals = tells(probes.decimals) ? Number(probes.decimals?.data) : 6
  const receive = refuses(probes.receive)
  const transfer = refuses(probes.transfer)
  return {
    decimals,
    hasCode: probes.code?.hasCode ?? false,
    capabilities: {
      receive,
      transfer,
      cancel: refuses(probes.cancel),
      bytes: refuses(probes.bytes),
      pause: tells(probes.paused),
      blockList: tells(probes.isBlacklisted) || tells(probes.isFrozen),
      stateEnum: transfer && !receive,
    },
  }
}

/** The domain among the candidates that the token's separator proves. */
export function readTokenDomain(
  answers: readonly CallAnswer[],
  { chainId, token }: { chainId: number; token: Address },
): TokenDomain {
  const probes = named(answers)
  const candidates = domainCandidates(probes, { chainId, token })
  const [first] = candidates
  const onChain = probes.domainSeparator
  if (onChain?.ok && onChain.data.length === 66) {
    const proven = candidates.find(
      (domain) => hashDomain(domain) === onChain.data,
    )
    if (proven) return proven
    const tried = candidates.map((domain) => ({
      name: domain.name,
      version: domain.version,
      separator: hashDomain(domain),
    }))
    throw new DomainMismatchError({ token, onChain: onChain.data, tried })
  }
  const said = probes.eip712Domain?.ok || probes.version?.ok
  if (!first || !said)
    throw new UnsupportedTokenError({
      token,
      problem: 'names no EIP-712 domain',
    })
  return first
}

function domainCandidates(
  probes: Probes,
  { chainId, token }: { chainId: number; token: Address },
): TokenDomain[] {
  const own = decodeDomain(probes.eip712Domain)
  const name = decodeText(probes.name)
  const version = decodeText(probes.version)
  const known = knownTokens.filter(
    (entry) => entry.chainId === chainId && entry.address === token,
  )
  const versions = version === undefined ? usualVersions : [version]
  const read =
    name === undefined ? [] : versions.map((version) => ({ name, version }))
  return [...(own ? [own] : []), ...read, ...known].map(
    ({ name, version }) => ({
      name,
      version,
      chainId,
      verifyingContract: token,
    }),
  )
}

/**
 * The texts of an `eip712Domain()` answer whose bitmap (ERC-5267) names
 * exactly the four members tokens sign under.
 */
function decodeDomain(
  answer: CallAnswer | undefined,
): { name: string; version: string } | undefined {
  if (!answer?.ok || answer.data.length < 2 + 7 * 64) return undefined
  if (answer.data.slice(2, 4) !== '0f') return undefined
  const name = textAt(answer.data, 1)
  const version = textAt(answer.data, 2)
  return name === undefined || version === undefined
    ? undefined
    : { name, version }
}

function decodeText(answer: CallAnswer | undefined): string | undefined {
  return answer?.ok ? textAt(answer.data, 0) : undefined
}

/** The ABI string whose offset stands in the given word. */
function textAt(data: Hex, index: number): string | undefined {
  const body = data.slice(2)
  const number = (at: number) => Number(`0x${body.slice(at, at + 64) || 'x'}`)
  const at = number(index * 64) * 2
  const length = number(at) * 2
  const text = body.slice(at + 64, at + 64 + length)
  if (!(length <= 512) || text.length !== length) return undefined
  const bytes = text.match(/../g)?.map((pair) => Number(`0x${pair}`)) ?? []
  return new TextDecoder().decode(new Uint8Array(bytes))
}

function named(answers: readonly CallAnswer[]): Probes {
  return Object.fromEntries(
    probeNames.map((probe, index) => [probe, answers[index]]),
  ) as Probes
}
