import { expect, test } from 'vitest'
import { classifyLogFailure } from './classifyLogFailure.js'

test.each([
  ['Base', -32614, 'eth_getLogs is limited to a 2,000 range', 2000n],
  ['QuickNode', -32614, 'eth_getLogs is limited to a 10,000 range', 10_000n],
  [
    'QuickNode, newer',
    -32614,
    'eth_getLogs and eth_newFilter are limited to a 10,000 blocks range',
    10_000n,
  ],
  [
    'Alchemy, free',
    -32600,
    'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range. Based on your parameters, this block range should work: [0x3e8, 0x3f1].',
    10n,
  ],
  ['Infura', -32602, 'range 1000000 exceeds limit of 10000', 10_000n],
  ['Coinbase', -32005, 'please limit the query to at most 1000 blocks', 1000n],
  ['Chainstack', -32602, 'Block range limit exceeded. See more details.', 0n],
  [
    'Chainstack, Stable',
    -32000,
    'maximum [from, to] blocks distance: 10000',
    10_000n,
  ],
  [
    'dRPC',
    35,
    'ranges over 10000 blocks are not supported on freetier',
    10_000n,
  ],
  [
    'dRPC, newer',
    35,
    'ranges over 10000 blocks are not supported on free plan',
    10_000n,
  ],
  ['Ankr', -32600, 'block range is too wide', 0n],
  ['PublicNode', -32701, 'exceed maximum block range: 50000', 50_000n],
  ['reth', -32602, 'query exceeds max block range 100000', 100_000n],
  ['BlockPI', -32602, 'eth_getLogs is limited to 1024 block range', 1024n],
  ['Merkle', -32603, 'eth_getLogs range is too large, max is 1k blocks', 1000n],
  ['Another', -32600, 'Query exceeds max block range of 10000', 10_000n],
  [
    'Another',
    -32000,
    'Requested too many blocks from 1 to 2000, maximum is set to 1000',
    1000n,
  ],
  ['Another', -32000, 'Maximum block range exceeded: 5,000', 5000n],
  ['Another', -32000, 'block range 4000 exceeds 1024', 1024n],
  ['Another', -32000, 'The range exceeds 10 000 blocks', 10_000n],
  ['Another', -32000, 'range is too wide (limit: 500 blocks)', 500n],
])(
  '%s refuses a wide range, and the limit is read',
  (_, code, words, limit) => {
    expect(classifyLogFailure({ code, words })).toEqual({
      kind: 'rangeTooWide',
      blocks: limit,
    })
  },
)

test.each([
  [
    'Infura',
    'query returned more than 10000 results. Try with this block range [0x3e8, 0x5dc].',
    501n,
  ],
  [
    'reth',
    'query exceeds max results 20000, retry with the range 1000-1500',
    501n,
  ],
  [
    'Alchemy',
    'Log response size exceeded. You can make eth_getLogs requests with up to a 2K block range',
    undefined,
  ],
  ['Ankr', 'query exceeds max results 20000', undefined],
])(
  '%s has too many results, and the suggestion is read',
  (_, words, suggested) => {
    expect(classifyLogFailure({ code: -32602, words })).toEqual({
      kind: 'tooManyResults',
      blocks: suggested,
    })
  },
)

test.each([
  [
    'timeout',
    { words: 'Query timeout exceeded. Consider reducing your block range' },
  ],
  [
    'headBehind',
    {
      code: -32602,
      words:
        'block range extends beyond current head block: requested 9, head 5',
    },
  ],
  [
    'headBehind',
    {
      code: -32602,
      words: 'BlockOutOfRangeError: block height is 2 but requested was 39321',
    },
  ],
  ['headBehind', { code: -32000, words: 'block 39321 not found' }],
  [
    'headBehind',
    {
      code: -32000,
      words:
        'One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.',
    },
  ],
  ['rateLimit', { code: -32016, words: 'over rate limit' }],
  ['rateLimit', { code: -32007, words: '50/second request limit reached' }],
  ['rateLimit', { status: 429, words: 'HTTP 429' }],
  [
    'unsupported',
    { code: -32601, words: 'the method eth_getLogs does not exist' },
  ],
  ['unsupported', { status: 403, words: 'HTTP 403' }],
  ['tooManyResults', { status: 413, words: 'HTTP 413' }],
  [
    'fault',
    {
      code: -32011,
      status: 503,
      words: 'no backend is currently healthy to serve traffic',
    },
  ],
  ['fault', { code: -32000, words: 'computer says no' }],
] as const)('%s is told from %o', (kind, failure) => {
  expect(classifyLogFailure(failure).kind).toBe(kind)
})
