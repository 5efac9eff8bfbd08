import { type Address, type Hex, hexToString } from 'viem'
import { hashDomain } from '../../core/hashPayment.js'
import { selectors, tokenSelectors } from '../../core/tokenAbi.js'
import type { TokenDomain } from '../../core/types.js'
import { bytesWords, word } from '../../core/words.js'
import { DomainMismatchError, UnsupportedTokenError } from '../rpc/errors.js'
import { isWord } from './executor.js'
import type { Call, CallAnswer, TokenCapabilities } from './types.js'

/** Domain versions of tokens that have no function `version()`. */
const usualVersions = ['2', '1']

/**
 * EIP-712 domains of known tokens whose `name()` differs from the name in their
 * domain.
 */
const usualDomains: readonly DomainName[] = [
  { name: 'USD Coin', version: '2' },
  { name: 'USDC', version: '2' },
]

type DomainName = { name: string; version: string }

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
    name: probe(tokenSelectors.name),
    version: probe(tokenSelectors.version),
    decimals: probe(selectors.decimals),
    domainSeparator: probe(selectors.domainSeparator),
    eip712Domain: probe(selectors.eip712Domain),
    paused: probe(tokenSelectors.paused),
    isBlacklisted: probe(selectors.isBlacklisted + word(prober)),
    isFrozen: probe(selectors.isFrozen + word(prober)),
    receive: probe(selectors.receiveVrs + message + vrs),
    transfer: probe(selectors.transferVrs + message + vrs),
    cancel: probe(selectors.cancelVrs + word(prober) + word(junk) + vrs),
    bytes: bytesProbe(token),
  }
}

/**
 * Builds a call of `cancelAuthorization(address,bytes32,bytes)` with an invalid
 * signature. A token that has this function reverts with a reason; another one
 * reverts without.
 */
export function bytesProbe(token: Address): Call {
  const data =
    selectors.cancelBytes + word(1) + word(1) + word(96) + bytesWords('0x01')
  return { target: token, data, gas: 100_000 }
}

/**
 * True when the call reverted with other data than `control`, a call of a
 * function that does not exist. Then the token has the called function.
 */
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

export function parseCapabilities(probes: Probes): {
  capabilities: TokenCapabilities
  decimals: number
} {
  const has = (answer: CallAnswer) => refuses(answer, probes.control)
  const receive = has(probes.receive)
  const transfer = has(probes.transfer)
  return {
    decimals: parseDecimals(probes.decimals),
    capabilities: {
      receive,
      transfer,
      cancel: has(probes.cancel),
      bytes: has(probes.bytes),
      pause: isWord(probes.paused),
      blockList: isWord(probes.isBlacklisted) || isWord(probes.isFrozen),
      stateEnum: transfer && !receive,
    },
  }
}

/** Returns USDC's 6 decimals if the token returns no valid number. */
export function parseDecimals(answer: CallAnswer): number {
  const decimals = isWord(answer) ? Number(answer.data) : 6
  return decimals <= 255 ? decimals : 6
}

/**
 * Finds the EIP-712 domain that hashes to the token's domain separator, among
 * those that the token returns and the usual ones. Trusts what the token
 * returns if it has no separator.
 */
export function parseTokenDomain(
  probes: Probes,
  { chainId, token }: { chainId: number; token: Address },
): TokenDomain {
  const { domainSeparator, eip712Domain, version } = probes
  const told = parseDomains(probes)
  const domainOf = ({ name, version }: DomainName): TokenDomain => {
    return { name, version, chainId, verifyingContract: token }
  }
  if (isWord(domainSeparator)) {
    const tried = [...told, ...usualDomains].map((domain) => ({
      ...domain,
      separator: hashDomain(domainOf(domain)),
    }))
    const onChain = domainSeparator.data
    const proven = tried.find(({ separator }) => separator === onChain)
    if (proven) return domainOf(proven)
    throw new DomainMismatchError({ token, onChain, tried })
  }
  const [first] = told
  if (first && (eip712Domain.ok || version.ok)) return domainOf(first)
  throw new UnsupportedTokenError({
    token,
    problem: 'returns no EIP-712 domain',
  })
}

function parseDomains(probes: Probes): DomainName[] {
  const own = decodeDomain(probes.eip712Domain)
  const name = decodeText(probes.name)
  const version = decodeText(probes.version)
  const versions = version === undefined ? usualVersions : [version]
  const read =
    name === undefined ? [] : versions.map((version) => ({ name, version }))
  return own ? [own, ...read] : read
}

/**
 * Returns name and version from an `eip712Domain()` answer (ERC-5267). Returns
 * `undefined` unless the answer says that the domain has exactly name, version,
 * chain id and contract.
 */
export function decodeDomain(answer: CallAnswer): DomainName | undefined {
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

/** Returns the ABI string whose offset is in the given word. */
function textAt(data: Hex, index: number): string | undefined {
  const body = data.slice(2)
  const number = (at: number) => Number(`0x${body.slice(at, at + 64) || 'x'}`)
  const at = number(index * 64) * 2
  const length = number(at) * 2
  const text = body.slice(at + 64, at + 64 + length)
  if (!(length <= 512) || text.length !== length) return undefined
  return hexToString(`0x${text}`)
}
