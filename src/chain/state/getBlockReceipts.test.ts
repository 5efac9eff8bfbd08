import {
  type Client,
  createClient,
  custom,
  type Hash,
  HttpRequestError,
  numberToHex,
  zeroHash,
} from 'viem'
import { expect, test } from 'vitest'
import { createReadClient } from './createReadClient.js'
import { getBlockReceipts } from './getBlockReceipts.js'

type Asked = { method: string; params: readonly unknown[] }
type Answer = (asked: Asked, count: number) => unknown

const list = 'eth_getBlockReceipts'
const single = 'eth_getTransactionReceipt'
const header = 'eth_getBlockByNumber'

const hash = (byte: string): Hash => `0x${byte.repeat(32)}`
const [one, two] = [hash('c1'), hash('c2')]

/** Returns the hash of a block: its number, repeated. */
const hashOf = (number: number): Hash => hash(number.toString(16))

const rpcReceipt = (number: number, transactionHash: Hash, index = 0) => ({
  transactionHash,
  transactionIndex: numberToHex(index),
  blockHash: hashOf(number),
  blockNumber: numberToHex(number),
  from: `0x${'a1'.repeat(20)}`,
  to: `0x${'a2'.repeat(20)}`,
  contractAddress: null,
  status: '0x1',
  type: '0x2',
  gasUsed: '0x5208',
  cumulativeGasUsed: '0x5208',
  effectiveGasPrice: '0x1',
  logs: [],
  logsBloom: '0x00',
})

const rpcBlock = (number: number, transactions: Hash[], changes = {}) => ({
  number: numberToHex(number),
  hash: hashOf(number),
  transactions,
  ...changes,
})

/**
 * Creates a fake node whose answers come from `answer`. `asked` lists the
 * method and first parameter of each request.
 */
function fakeNode(answer: Answer): { client: Client; asked: string[] } {
  const asked: string[] = []
  const request = async ({ method, params }: Asked) => {
    asked.push(`${method} ${params[0]}`)
    const count = asked.filter((it) => it.startsWith(method)).length
    return answer({ method, params }, count)
  }
  const transport = custom({ request: request as never }, { retryCount: 3 })
  return { client: createClient({ transport }), asked }
}

const forbid = (status: number): never => {
  throw new HttpRequestError({ url: 'http://node', status, body: {} })
}

const places = ({
  blockNumber,
  blockHash,
  receipts,
}: Awaited<ReturnType<typeof getBlockReceipts>>) => [
  blockNumber,
  blockHash,
  ...receipts.map((receipt) => receipt.transactionHash),
]

test.each([
  [0x20n, '0x20'],
  ['0x20', '0x20'],
  ['0x0020', '0x20'],
  ['latest', 'latest'],
  ['safe', 'safe'],
  ['finalized', 'finalized'],
  ['earliest', 'earliest'],
] as const)('block %s goes out as %s', async (block, wire) => {
  const { client, asked } = fakeNode(() => [rpcReceipt(0x20, one)])
  const found = await getBlockReceipts(client, { block })
  expect(places(found)).toEqual([32n, hashOf(0x20), one])
  expect(asked).toEqual([`${list} ${wire}`])
})

test.each([[-1n], [32], ['32'], ['newest'], ['0x'], [undefined], [null]])(
  'block %s is refused before anything is sent',
  async (block) => {
    const { client, asked } = fakeNode(() => [])
    await expect(
      getBlockReceipts(client, { block: block as never }),
    ).rejects.toMatchObject({ name: 'InvalidFieldError' })
    expect(asked).toEqual([])
  },
)

test('an empty block is known by its header', async () => {
  const { client, asked } = fakeNode(({ method }) =>
    method === list ? [] : rpcBlock(0x20, []),
  )
  expect(places(await getBlockReceipts(client, { block: 32n }))).toEqual([
    32n,
    hashOf(0x20),
  ])
  expect(asked).toEqual([`${list} 0x20`, `${header} 0x20`])
})

test('no block is called empty because the tag had moved on to it', async () => {
  const { client, asked } = fakeNode(({ method, params }) => {
    if (method === header) return rpcBlock(0x21, [one])
    return params[0] === 'latest' ? [] : [rpcReceipt(0x21, one)]
  })
  const found = await getBlockReceipts(client, { block: 'latest' })
  expect(places(found)).toEqual([33n, hashOf(0x21), one])
  expect(asked).toEqual([`${list} latest`, `${header} latest`, `${list} 0x21`])
})

test.each<[string, unknown, string]>([
  ['null', null, 'has no 0x20 block'],
  ['an object', {}, 'is not a list'],
  ['text', 'receipts', 'is not a list'],
  ['receipts of nothing', [null], 'holds no receipt'],
  ['those of another block', [rpcReceipt(0x21, one)], 'is for another block'],
  [
    'those of two blocks',
    [rpcReceipt(0x20, one), { ...rpcReceipt(0x20, two), blockHash: one }],
    'is for another block',
  ],
])('an answer of %s is an error', async (_, answer, problem) => {
  const { client } = fakeNode(() => answer)
  await expect(getBlockReceipts(client, { block: 32n })).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { method: list, problem },
  })
})

test('a node that has lost the receipts of a block says no empty block', async () => {
  const { client } = fakeNode(({ method }) =>
    method === list ? [] : rpcBlock(0x20, [one]),
  )
  await expect(getBlockReceipts(client, { block: 32n })).rejects.toThrow(
    'is empty, but block 0x20 is not',
  )
})

test.each([[403], [-32601], [-32004]])(
  'a node that forbids with %d is asked once, then never again',
  async (code) => {
    const { client, asked } = fakeNode(() => {
      if (code > 0) forbid(code)
      throw Object.assign(new Error('no such method'), { code })
    })
    for (const block of ['latest', 32n] as const)
      await expect(getBlockReceipts(client, { block })).rejects.toMatchObject({
        name: 'BlockReceiptsForbiddenError',
        retryable: false,
      })
    expect(asked).toEqual([`${list} latest`])
  },
)

test('other refusals are no verdict on the method', async () => {
  const { client, asked } = fakeNode((_, count) =>
    count === 1 ? forbid(401) : [rpcReceipt(0x20, one)],
  )
  const read = () => getBlockReceipts(client, { block: 32n })
  await expect(read()).rejects.toMatchObject({ name: 'NodeError' })
  expect(places(await read())).toEqual([32n, hashOf(0x20), one])
  expect(asked).toEqual([`${list} 0x20`, `${list} 0x20`])
})

const forbidding = (answer: Answer): Answer => {
  return (asked, count) =>
    asked.method === list ? forbid(403) : answer(asked, count)
}

test('with the fallback each transaction is asked for, of the block that was named', async () => {
  const { client, asked } = fakeNode(
    forbidding(({ method, params }) =>
      method === header
        ? rpcBlock(0x20, [one, two])
        : rpcReceipt(0x20, params[0] as Hash),
    ),
  )
  const parameters = { block: 'latest', fallback: 'perTransaction' } as const
  const found = await getBlockReceipts(client, parameters)
  expect(places(found)).toEqual([32n, hashOf(0x20), one, two])
  await getBlockReceipts(client, parameters)
  const again = [`${header} latest`, `${single} ${one}`, `${single} ${two}`]
  expect(asked).toEqual([`${list} latest`, ...again, ...again])
})

test.each<[string, unknown, string]>([
  ['missing', null, 'holds no receipt'],
  ['of a reorganized block', rpcReceipt(0x21, two), 'is for another block'],
  ['of another', rpcReceipt(0x20, one), 'is for another transaction'],
])(
  'with the fallback a receipt that is %s is an error, not a gap',
  async (_, answer, problem) => {
    const { client } = fakeNode(
      forbidding(({ method, params }) => {
        if (method === header) return rpcBlock(0x20, [one, two])
        return params[0] === one ? rpcReceipt(0x20, one) : answer
      }),
    )
    await expect(
      getBlockReceipts(client, { block: 32n, fallback: 'perTransaction' }),
    ).rejects.toThrow(problem)
  },
)

test.each<[string, unknown]>([
  ['has no 0x20 block', null],
  ['holds no transaction hashes', rpcBlock(0x20, [], { transactions: [{}] })],
  ['holds no transaction hashes', {}],
  ['holds no hash', rpcBlock(0x20, [], { hash: null })],
  ['is not a quantity', rpcBlock(0x20, [], { number: 32 })],
])('with the fallback a header that %s is an error', async (problem, block) => {
  const { client } = fakeNode(forbidding(() => block))
  await expect(
    getBlockReceipts(client, { block: 32n, fallback: 'perTransaction' }),
  ).rejects.toThrow(problem)
})

test('pending receipts of a block in the making have no block hash', async () => {
  const pending = { ...rpcReceipt(0x21, one), blockHash: zeroHash }
  const { client } = fakeNode(() => [pending])
  const found = await getBlockReceipts(client, { block: 'pending' })
  expect(places(found)).toEqual([33n, undefined, one])
  expect(found.receipts[0]).toMatchObject({ preconfirmed: true })
})

test('a node whose pending receipts are the newest sealed ones says so', async () => {
  const { client } = fakeNode(({ method }) =>
    method === header ? rpcBlock(0x20, [one]) : [rpcReceipt(0x20, one)],
  )
  const found = await getBlockReceipts(client, { block: 'pending' })
  expect(places(found)).toEqual([32n, hashOf(0x20), one])
})

test('pending receipts above the head are pre-confirmed, although the node names a block hash', async () => {
  const log = {
    address: `0x${'a2'.repeat(20)}`,
    topics: [],
    data: '0x',
    blockNumber: numberToHex(0x21),
    blockHash: hashOf(0x21),
    transactionHash: one,
    transactionIndex: '0x0',
    logIndex: '0x0',
  }
  const { client, asked } = fakeNode(({ method }) =>
    method === header
      ? rpcBlock(0x20, [two])
      : [{ ...rpcReceipt(0x21, one), logs: [log] }],
  )
  const found = await getBlockReceipts(client, { block: 'pending' })
  expect(places(found)).toEqual([33n, undefined, one])
  const early = { blockHash: undefined, preconfirmed: true }
  expect(found.receipts).toMatchObject([{ ...early, logs: [early] }])
  expect(asked).toEqual([`${list} pending`, `${header} latest`])
})

test('pending receipts with another hash than the block of their number are read again by number', async () => {
  const { client, asked } = fakeNode(({ method, params }) => {
    if (method === header) return rpcBlock(0x21, [one])
    const receipt = rpcReceipt(0x21, one)
    return params[0] === 'pending'
      ? [{ ...receipt, blockHash: two }]
      : [receipt]
  })
  const found = await getBlockReceipts(client, { block: 'pending' })
  expect(places(found)).toEqual([33n, hashOf(0x21), one])
  expect(asked.at(-1)).toBe(`${list} 0x21`)
})

/** Throws the error of Geth for a block whose receipts it does not have. */
const lacking = (words: string): never => {
  throw Object.assign(new Error(words), { code: -32603 })
}

test.each([
  ['receipts length mismatch: 133 vs 0', 'none'],
  ['receipts length mismatch: 133 vs 0', 'perTransaction'],
  ['pending receipts is not available', 'none'],
  ['pending receipts is not available', 'perTransaction'],
] as const)(
  'where pending says "%s", latest answers (fallback %s)',
  async (words, fallback) => {
    const { client } = fakeNode(({ params }) =>
      params[0] === 'pending' ? lacking(words) : [rpcReceipt(0x20, one)],
    )
    const found = await getBlockReceipts(client, { block: 'pending', fallback })
    expect(places(found)).toEqual([32n, hashOf(0x20), one])
  },
)

test('receipts that a node lacks as a list are asked for one by one, where the caller allows it', async () => {
  const { client, asked } = fakeNode(({ method }) => {
    if (method === list) return lacking('receipts length mismatch: 1 vs 0')
    return method === header ? rpcBlock(0x20, [one]) : rpcReceipt(0x20, one)
  })
  const read = () =>
    getBlockReceipts(client, { block: 32n, fallback: 'perTransaction' })
  expect(places(await read())).toEqual([32n, hashOf(0x20), one])
  await read()
  // Both reads ask for the receipts of the whole block: the first refusal
  // concerned only its own block.
  expect(asked.filter((it) => it.startsWith(list))).toHaveLength(2)
  await expect(getBlockReceipts(client, { block: 32n })).rejects.toMatchObject({
    name: 'NodeError',
    retryable: false,
  })
})

test('where pending has no receipts, latest answers, and says so', async () => {
  const { client, asked } = fakeNode(({ params }) =>
    params[0] === 'pending' ? null : [rpcReceipt(0x20, one)],
  )
  const found = await getBlockReceipts(client, { block: 'pending' })
  expect(places(found)).toEqual([32n, hashOf(0x20), one])
  expect(asked).toEqual([`${list} pending`, `${list} latest`])
})

const fallback = { block: 'pending', fallback: 'perTransaction' } as const

/**
 * Creates a node at block 0x20, which has one transaction, and with a pending
 * block.
 */
const atHead = (pending: unknown, receiptOf: (hash: Hash) => unknown) =>
  forbidding(({ method, params: [first] }) => {
    if (method === single) return receiptOf(first as Hash)
    return first === 'pending' ? pending : rpcBlock(0x20, [one])
  })

test.each<[string, unknown]>([
  ['a pool without receipts', rpcBlock(0x21, [two])],
  ['an unnamed pool', rpcBlock(0x21, [two], { hash: null })],
  ['nothing', null],
  ['a block without number', rpcBlock(0x21, [], { number: null })],
])('with the fallback, %s as pending means latest', async (_, pending) => {
  const { client } = fakeNode(
    atHead(pending, (hash) => (hash === one ? rpcReceipt(0x20, one) : null)),
  )
  expect(places(await getBlockReceipts(client, fallback))).toEqual([
    32n,
    hashOf(0x20),
    one,
  ])
})

test('with the fallback, a sealed pending block keeps its hash', async () => {
  const { client } = fakeNode(
    atHead(rpcBlock(0x20, [one]), (hash) => rpcReceipt(0x20, hash)),
  )
  expect(places(await getBlockReceipts(client, fallback))).toEqual([
    32n,
    hashOf(0x20),
    one,
  ])
})

test('with the fallback, pre-confirmed receipts are those that are known', async () => {
  const pending = rpcBlock(0x21, [one, two], { hash: zeroHash })
  const { client } = fakeNode(
    atHead(pending, (hash) =>
      hash === one ? { ...rpcReceipt(0x21, one), blockHash: zeroHash } : null,
    ),
  )
  expect(places(await getBlockReceipts(client, fallback))).toEqual([
    33n,
    undefined,
    one,
  ])
})

test('a block sealed between list and receipts comes whole', async () => {
  const three = hash('c3')
  const { client } = fakeNode(
    forbidding(({ method, params: [first] }) => {
      if (method === single) return rpcReceipt(0x21, first as Hash)
      if (first === 'latest') return rpcBlock(0x20, [])
      return first === 'pending'
        ? rpcBlock(0x21, [one], { hash: zeroHash })
        : rpcBlock(0x21, [one, three])
    }),
  )
  expect(places(await getBlockReceipts(client, fallback))).toEqual([
    33n,
    hashOf(0x21),
    one,
    three,
  ])
})

test('methods of a read client and the free function share the verdict', async () => {
  const asked: string[] = []
  const request = async ({ method }: Asked) => {
    asked.push(method)
    return forbid(403)
  }
  const transport = custom({ request: request as never })
  const client = createReadClient({ transport })
  const error = { name: 'BlockReceiptsForbiddenError' }
  await expect(
    client.getBlockReceipts({ block: 'latest' }),
  ).rejects.toMatchObject(error)
  await expect(
    getBlockReceipts(client, { block: 'latest' }),
  ).rejects.toMatchObject(error)
  expect(asked).toEqual([list])
})

test('a block that holds a receipt twice is an error', async () => {
  const { client } = fakeNode(() => [
    rpcReceipt(0x20, one),
    rpcReceipt(0x20, two, 1),
    rpcReceipt(0x20, two, 1),
  ])
  await expect(getBlockReceipts(client, { block: 32n })).rejects.toMatchObject({
    name: 'NodeAnswerError',
    details: { problem: 'holds a receipt twice' },
  })
})

test('a list of receipts that lacks one in the middle is an error', async () => {
  const three = hash('c3')
  const { client } = fakeNode(() => [
    rpcReceipt(0x20, one),
    rpcReceipt(0x20, three, 2),
  ])
  await expect(getBlockReceipts(client, { block: 32n })).rejects.toThrow(
    'lacks receipt 1 of the block',
  )
})

test.each<[string, object]>([
  ['block', { blockHash: hashOf(0x21) }],
  ['height', { blockNumber: '0x21' }],
  ['transaction', { transactionHash: two }],
])('a receipt with a log of another %s is an error', async (_, change) => {
  const log = {
    address: `0x${'a2'.repeat(20)}`,
    topics: [],
    data: '0x',
    blockNumber: '0x20',
    blockHash: hashOf(0x20),
    transactionHash: one,
    transactionIndex: '0x0',
    logIndex: '0x0',
  }
  const receipt = { ...rpcReceipt(0x20, one), logs: [{ ...log, ...change }] }
  const { client } = fakeNode(() => [receipt])
  await expect(getBlockReceipts(client, { block: 32n })).rejects.toThrow(
    'holds a log of another block or transaction',
  )
})
