import {
  encodeAbiParameters,
  encodeErrorResult,
  type Hex,
  parseAbi,
  stringToHex,
  toFunctionSelector,
} from 'viem'
import { expect, test } from 'vitest'
import { redact } from './redact.js'
import { parseRevert, parseWords } from './revertReason.js'

const errorAbi = parseAbi(['error Error(string reason)'])
const revert = (words: string): Hex =>
  encodeErrorResult({ abi: errorAbi, args: [words] })

test.each([
  ['Pausable: paused', 'paused'],
  ['Blacklistable: account is blacklisted', 'blocked'],
  ['FiatTokenV2: caller must be the payee', 'simulationFailed'],
  ['FiatTokenV2: authorization is not yet valid', 'notYetValid'],
  ['FiatTokenV2: authorization is expired', 'expired'],
  ['FiatTokenV2: authorization is used or canceled', 'consumed'],
  ['FiatTokenV2: authorization is used', 'consumed'],
  ['FiatTokenV2: authorization is canceled', 'consumed'],
  ['FiatTokenV2: invalid signature', 'wrongSigner'],
  ['ECRecover: invalid signature length', 'malformedSignature'],
  ["ECRecover: invalid signature 's' value", 'malformedSignature'],
  ["ECRecover: invalid signature 'v' value", 'malformedSignature'],
  ['ECRecover: invalid signature', 'wrongSigner'],
  ['ERC20: transfer amount exceeds balance', 'insufficientFunds'],
  ['ERC20: transfer from the zero address', 'simulationFailed'],
  ['ERC20: transfer to the zero address', 'simulationFailed'],
  ['FiatTokenV2_2: Account is blacklisted', 'blocked'],
  ['FiatTokenV2_2: Balance exceeds (2^255 - 1)', 'simulationFailed'],
  ['FiatTokenV2: permit is expired', 'expired'],
  ['EIP2612: invalid signature', 'wrongSigner'],
  ['Native transfer failed', 'simulationFailed'],
])('the revert string "%s" means %s', (words, reason) => {
  expect(parseRevert(revert(words))).toEqual({ reason, words })
  expect(parseWords(words)).toEqual({ reason, words })
})

/**
 * Custom errors as the tokens of OpenZeppelin, Paxos, Agora and Solady declare
 * them.
 */
test.each([
  ['ERC3009InvalidSignature()', 'wrongSigner'],
  ['ERC3009UsedAuthorization(address,bytes32)', 'consumed'],
  ['ERC3009InvalidAuthorizationTime(uint256,uint256)', 'outsideWindow'],
  ['InvalidAccountNonce(address,uint256)', 'wrongNonce'],
  ['ERC20InsufficientBalance(address,uint256,uint256)', 'insufficientFunds'],
  ['ERC20InvalidReceiver(address)', 'simulationFailed'],
  ['ECDSAInvalidSignature()', 'wrongSigner'],
  ['ECDSAInvalidSignatureLength(uint256)', 'malformedSignature'],
  ['ECDSAInvalidSignatureS(bytes32)', 'malformedSignature'],
  ['EnforcedPause()', 'paused'],
  ['CallerMustBePayee()', 'simulationFailed'],
  ['AuthorizationInvalid()', 'notYetValid'],
  ['AuthorizationExpired()', 'expired'],
  ['InvalidSignature()', 'wrongSigner'],
  ['InvalidECRecoverSignature()', 'wrongSigner'],
  ['AddressFrozen()', 'blocked'],
  ['ContractPaused()', 'paused'],
  ['InsufficientFunds()', 'insufficientFunds'],
  ['InsufficientBalance()', 'insufficientFunds'],
])('the custom error %s means %s', (signature, reason) => {
  const data: Hex = `${toFunctionSelector(signature)}${'0'.repeat(192)}`
  const words = `${signature.split('(')[0]}()`
  expect(parseRevert(data)).toEqual({ reason, words })
  expect(parseRevert(data.toUpperCase().replace('0X', '0x') as Hex)).toEqual({
    reason,
    words,
  })
})

test.each([undefined, '0x'] as const)(
  'a revert with %s says that the function is missing',
  (data) => {
    expect(parseRevert(data)).toEqual({ reason: 'unsupportedToken' })
  },
)

test.each<[string, Hex, string]>([
  ['an unknown error', '0xdeadbeef', 'error 0xdeadbeef'],
  ['a panic', `0x4e487b71${'0'.repeat(63)}1`, 'error 0x4e487b71'],
  ['less than a selector', '0x08c3', 'error 0x08c3'],
  ['a selector alone', '0x08c379a0', ''],
  ['no length', `0x08c379a0${'0'.repeat(62)}20`, ''],
  [
    'a length beyond the data',
    `0x08c379a0${'0'.repeat(62)}20${'f'.repeat(64)}${stringToHex('moved').slice(2)}`,
    'moved',
  ],
  [
    'bytes that are no text',
    `0x08c379a0${encodeAbiParameters([{ type: 'bytes' }], ['0xff']).slice(2)}`,
    '…',
  ],
])('%s is not understood, and not a fault', (_, data, words) => {
  expect(parseRevert(data)).toEqual({ reason: 'simulationFailed', words })
})

test('long words are cut', () => {
  const { words = '' } = parseRevert(revert('no. '.repeat(400)))
  expect(words).toBe('no. '.repeat(125))
})

test('words that hold a signature lose it', () => {
  const secret = 'ab'.repeat(65)
  const { words } = parseRevert(revert(`bad signature 0x${secret} of payer`))
  expect(words).toBe('bad signature 0x… of payer')
})

test.each([
  [`0x${'a1'.repeat(32)}`, '0x…'],
  [`0x${'A1'.repeat(65)}`, '0x…'],
  ['a1'.repeat(32), '0x…'],
  [`r=${'a1'.repeat(32)},s=${'b2'.repeat(32)}`, 'r=0x…,s=0x…'],
  [`0x${'a1'.repeat(20)}`, `0x${'a1'.repeat(20)}`],
  ['0xdeadbeef', '0xdeadbeef'],
  ['nothing to hide', 'nothing to hide'],
  ['\tnothing\nto hide', '\tnothing\nto hide'],
  ['keine Wörter 資金', 'keine Wörter 資金'],
])('%s is shown as %s', (text, shown) => {
  expect(redact(text)).toBe(shown)
})

const bytes = Array.from({ length: 65 }, (_, at) => (at * 89 + 139) % 256)
const escaped = (form: (hex: string) => string) =>
  bytes.map((byte) => form(byte.toString(16).padStart(2, '0'))).join('')

test.each([
  ['escapes', escaped((hex) => `\\x${hex}`)],
  ['escapes of JSON', escaped((hex) => `\\u00${hex}`)],
  ['percent escapes', escaped((hex) => `%${hex}`)],
  [
    'escapes of what is no letter',
    bytes
      .map((byte) =>
        byte > 32 && byte < 127
          ? String.fromCharCode(byte)
          : `\\x${byte.toString(16).padStart(2, '0')}`,
      )
      .join(''),
  ],
  ['bytes', String.fromCharCode(...bytes)],
  ['bytes read as UTF-8', new TextDecoder().decode(new Uint8Array(bytes))],
])('words that hold a signature as %s lose it', (_, secret) => {
  const { words } = parseRevert(revert(`bad signature ${secret} of payer`))
  expect(words).toMatch(/^bad signature %?… of payer$/)
})
