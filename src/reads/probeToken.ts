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

/** The calls that tell what a token is. */
export function tokenProbes(
  token: Address,
  prober: Address,
): Record<ProbeName, Call> {
  const junk = '0x01'
  const message =
    word(token) + word(prober) + word(1) + word(0) + word(junk) + word(junk)
  const vrs = word(27) + word(junk) + word(junk)
  const probe = (data: string): Call => ({
    target: token,
    data,
    gas: 100_000,
  })
  return {
    code: { target: token, data: '', gas: 0 },
    control: probe('3009dead'),
    name: probe(selectors.name),
    version: probe(selectors.version),
    decimals: probe(selectors.decimals),
    domainSeparator: probe(selectors.domainSeparator),
    eip712Domain: probe(selectors.eip712Domain),
    paused: probe(selectors.paused),
    isBlacklisted: probe(selectors.isBlacklisted + word(prober)),
    isFrozen: probe(selectors.isFrozen + word(prober)),
    receive: probe(selectors.receiveVrs + message + vrs),
    transfer: probe(selectors.transferVrs + message + vrs),
    cancel: probe(selectors.cancelVrs + word(prober) + word(junk) + vrs),
    bytes: bytesProbe(token),
  }
}

/**
 * Asks for `cancelAuthorization(address,bytes32,bytes)` with a signature
 * nobody made: a token that has it says why not, one that does not is silent.
 */
export function bytesProbe(token: Address): Call {
  const data =
    selectors.cancelBytes + word(1) + word(1) + word(96) + bytesWords('0x01')
  return { target: token, data, gas: 100_000 }
}

/** Whether a probe was refused with a reason, so that the function exists. */
export function refuses(
  answer: CallAnswer,
  control?: CallAnswer | undefined,
): boolean {
  return !answer.ok && answer.data !== '0x' && answer.data !== control?.data
}

type ProbeName =
  | 'code'
  | 'control'
  | 'name'
  | 'version'
  | 'decimals'
  | 'domainSeparator'
  | 'eip712Domain'
  | 'paused'
  | 'isBlacklisted'
  | 'isFrozen'
  | 'receive'
  | 'transfer'
  | 'cancel'
  | 'bytes'

type Probes = Readonly<Record<ProbeName, CallAnswer>>

export function readCapabilities(probes: Probes): {
  capabilities: TokenCapabilities
  decimals: number
} {
  const has = (answer: CallAnswer) => refuses(answer, probes.control)
  const tells = ({ ok, data }: CallAnswer) => ok && data.length === 66
  const receive = has(probes.receive)
  const transfer = has(probes.transfer)
  return {
    decimals: readDecimals(probes.decimals),
    capabilities: {
      receive,
      transfer,
      cancel: has(probes.cancel),
      bytes: has(probes.bytes),
      pause: tells(probes.paused),
      blockList: tells(probes.isBlacklisted) || tells(probes.isFrozen),
      stateEnum: transfer && !receive,
    },
  }
}

/** Those of USDC where the token has none, or none that can be used. */
export function readDecimals({ ok, data }: CallAnswer): number {
  const decimals = ok && data.length === 66 ? Number(data) : 6
  return decimals <= 255 ? decimals : 6
}

/** The domain among the candidates that the token's separator proves. */
export function readTokenDomain(
  probes: Probes,
  { chainId, token }: { chainId: number; token: Address },
): TokenDomain {
  const candidates = domainCandidates(probes, { chainId, token })
  const [first] = candidates
  const onChain = probes.domainSeparator
  if (onChain.ok && onChain.data.length === 66) {
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
  const said = probes.eip712Domain.ok || probes.version.ok
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
export function decodeDomain(
  answer: CallAnswer,
): { name: string; version: string } | undefined {
  if (!answer.ok || answer.data.length < 2 + 7 * 64) return undefined
  if (answer.data.slice(2, 4) !== '0f') return undefined
  const name = textAt(answer.data, 1)
  const version = textAt(answer.data, 2)
  return name === undefined || version === undefined
    ? undefined
    : { name, version }
}

function decodeText(answer: CallAnswer): string | undefined {
  return answer.ok ? textAt(answer.data, 0) : undefined
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
