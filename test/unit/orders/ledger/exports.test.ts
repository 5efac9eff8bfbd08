import {
  type LedgerRow,
  toCsv,
  toHledger,
  toJsonLines,
} from 'countersign/orders'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sampleRow, streamOf, textOf } from '../../support/ledgerRow.js'

const gas = sampleRow({
  type: 'gas',
  token: undefined,
  symbol: 'ETH',
  decimals: 18,
  gross: 0n,
  fee: 21_000_000_000_001n,
  net: -21_000_000_000_001n,
  logIndex: undefined,
  payer: undefined,
  submitter: `0x${'4'.repeat(40)}`,
  finality: 'included',
})

const balance = (type: 'opening' | 'closing', units: bigint) =>
  sampleRow({
    type,
    gross: 0n,
    net: 0n,
    balance: units,
    transactionHash: undefined,
    logIndex: undefined,
    orderId: undefined,
    payer: undefined,
  })

const books = [
  balance('opening', 7_000_000n),
  sampleRow(),
  gas,
  sampleRow({
    type: 'transfer',
    gross: -1n,
    net: -1n,
    orderId: undefined,
    payer: undefined,
    payee: `0x${'6'.repeat(40)}`,
  }),
  sampleRow({
    type: 'claim',
    gross: 3n,
    net: 3n,
    orderId: undefined,
    movementId: 'claim+0123456789abcdef',
  }),
  sampleRow({
    type: 'unpaid',
    gross: 0n,
    net: 0n,
    unpaid: 2_500_000n,
    finality: undefined,
    transactionHash: undefined,
    blockNumber: 0n,
    logIndex: undefined,
  }),
  balance('closing', 19_500_002n),
]

test('CSV has a header, one line a row, and exact decimals', async () => {
  expect(await textOf(toCsv(streamOf(...books)))).toMatchInlineSnapshot(`
    "type,time,chainId,token,symbol,recipient,gross,fee,net,balance,finality,blockNumber,logIndex,transactionHash,orderId,refundId,payer,payee,submitter,unpaid,movementId
    opening,2025-11-13T02:13:20Z,8453,0x1111111111111111111111111111111111111111,USDC,0x2222222222222222222222222222222222222222,0,0,0,7,finalized,100,,,,,,,,,
    capture,2025-11-13T02:13:20Z,8453,0x1111111111111111111111111111111111111111,USDC,0x2222222222222222222222222222222222222222,12.5,0,12.5,,finalized,100,4,0x3333333333333333333333333333333333333333333333333333333333333333,order-1,,0x5555555555555555555555555555555555555555,,,,
    gas,2025-11-13T02:13:20Z,8453,,ETH,0x2222222222222222222222222222222222222222,0,0.000021000000000001,-0.000021000000000001,,included,100,,0x3333333333333333333333333333333333333333333333333333333333333333,order-1,,,,0x4444444444444444444444444444444444444444,,
    transfer,2025-11-13T02:13:20Z,8453,0x1111111111111111111111111111111111111111,USDC,0x2222222222222222222222222222222222222222,-0.000001,0,-0.000001,,finalized,100,4,0x3333333333333333333333333333333333333333333333333333333333333333,,,,0x6666666666666666666666666666666666666666,,,
    claim,2025-11-13T02:13:20Z,8453,0x1111111111111111111111111111111111111111,USDC,0x2222222222222222222222222222222222222222,0.000003,0,0.000003,,finalized,100,4,0x3333333333333333333333333333333333333333333333333333333333333333,,,0x5555555555555555555555555555555555555555,,,,claim+0123456789abcdef
    unpaid,2025-11-13T02:13:20Z,8453,0x1111111111111111111111111111111111111111,USDC,0x2222222222222222222222222222222222222222,0,0,0,,,0,,,order-1,,0x5555555555555555555555555555555555555555,,,2.5,
    closing,2025-11-13T02:13:20Z,8453,0x1111111111111111111111111111111111111111,USDC,0x2222222222222222222222222222222222222222,0,0,0,19.500002,finalized,100,,,,,,,,,
    "
  `)
})

test('JSON lines hold every member, integers as decimal strings', async () => {
  const lines = (await textOf(toJsonLines(streamOf(...books)))).split('\n')
  expect(lines).toHaveLength(books.length + 1)
  expect(JSON.parse(lines[2] ?? '')).toMatchObject({
    type: 'gas',
    fee: '21000000000001',
    net: '-21000000000001',
    blockNumber: '100',
  })
})

test('a journal declares what it uses, opens with a balance and ends with an assertion', async () => {
  expect(await textOf(toHledger(streamOf(...books)))).toMatchInlineSnapshot(`
    "decimal-mark .
    commodity 1000.000000 USDC
    account assets:8453:USDC:0x2222222222222222222222222222222222222222
    account equity:opening:8453:USDC:0x2222222222222222222222222222222222222222

    2025-11-13 * opening
        ; time:02:13:20Z, block:100, finality:finalized
        assets:8453:USDC:0x2222222222222222222222222222222222222222  7 USDC
        equity:opening:8453:USDC:0x2222222222222222222222222222222222222222  -7 USDC
    account income:sales:8453:USDC:0x2222222222222222222222222222222222222222

    2025-11-13 * (0x3333333333333333333333333333333333333333333333333333333333333333) capture
        ; time:02:13:20Z, block:100, log:4, finality:finalized, order:order-1, payer:0x5555555555555555555555555555555555555555
        assets:8453:USDC:0x2222222222222222222222222222222222222222  12.5 USDC
        income:sales:8453:USDC:0x2222222222222222222222222222222222222222  -12.5 USDC
    commodity 1000.000000000000000000 ETH
    account assets:8453:ETH:0x4444444444444444444444444444444444444444
    account expenses:gas:8453:ETH:0x4444444444444444444444444444444444444444

    2025-11-13 ! (0x3333333333333333333333333333333333333333333333333333333333333333) gas
        ; time:02:13:20Z, block:100, finality:included, order:order-1
        assets:8453:ETH:0x4444444444444444444444444444444444444444  -0.000021000000000001 ETH
        expenses:gas:8453:ETH:0x4444444444444444444444444444444444444444  0.000021000000000001 ETH
    account equity:transfers:8453:USDC:0x2222222222222222222222222222222222222222

    2025-11-13 * (0x3333333333333333333333333333333333333333333333333333333333333333) transfer
        ; time:02:13:20Z, block:100, log:4, finality:finalized, payee:0x6666666666666666666666666666666666666666
        assets:8453:USDC:0x2222222222222222222222222222222222222222  -0.000001 USDC
        equity:transfers:8453:USDC:0x2222222222222222222222222222222222222222  0.000001 USDC
    account income:channels:8453:USDC:0x2222222222222222222222222222222222222222

    2025-11-13 * (0x3333333333333333333333333333333333333333333333333333333333333333) claim
        ; time:02:13:20Z, block:100, log:4, finality:finalized, movement:claim+0123456789abcdef, payer:0x5555555555555555555555555555555555555555
        assets:8453:USDC:0x2222222222222222222222222222222222222222  0.000003 USDC
        income:channels:8453:USDC:0x2222222222222222222222222222222222222222  -0.000003 USDC
    account expenses:unpaid:8453:USDC:0x2222222222222222222222222222222222222222

    2025-11-13 ! unpaid
        ; time:02:13:20Z, block:0, order:order-1, unpaid:2.5 USDC, payer:0x5555555555555555555555555555555555555555
        assets:8453:USDC:0x2222222222222222222222222222222222222222  0 USDC
        expenses:unpaid:8453:USDC:0x2222222222222222222222222222222222222222  0 USDC

    2025-11-13 * closing
        ; time:02:13:20Z, block:100, finality:finalized
        assets:8453:USDC:0x2222222222222222222222222222222222222222  0 USDC = 19.500002 USDC
    "
  `)
})

/** Parses CSV as RFC 4180 says. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  let field = ''
  let isQuoted = false
  for (let at = 0; at < text.length; at++) {
    const mark = text[at]
    if (isQuoted) {
      if (mark !== '"') field += mark
      else if (text[at + 1] === '"') field += text[++at]
      else isQuoted = false
    } else if (mark === '"') isQuoted = true
    else if (mark === ',' || text.startsWith('\r\n', at)) {
      rows.at(-1)?.push(field)
      field = ''
      if (mark === '\r') {
        rows.push([])
        at++
      }
    } else field += mark
  }
  return rows.slice(0, -1)
}

const orderIds = fc
  .tuple(
    fc.constantFrom('', '=', '+', '-', '@', "'", '"', ',', ' =', '\uff1d', ' '),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
  )
  .map(([start, rest]) => start + rest)
  .filter((id) => !/[\p{Cc}\p{Cs}]/u.test(id))

const column = (name: keyof LedgerRow, rows: readonly string[][]) =>
  rows[0]?.indexOf(name) ?? -1

test('no order id becomes a formula in a spreadsheet, and each can be read back', async () => {
  await fc.assert(
    fc.asyncProperty(orderIds, async (orderId) => {
      const row = sampleRow({ orderId })
      const rows = parseCsv(await textOf(toCsv(streamOf(row))))
      expect(rows.map((one) => one.length)).toEqual([21, 21])
      const shown = rows[1]?.[column('orderId', rows)] ?? ''
      expect(shown.trimStart()).not.toMatch(/^[=+\-@\uff1d\uff0b\uff0d\uff20]/)
      expect(shown.replace(/^'/, '')).toBe(orderId)
    }),
  )
})

test('an order id stays one tag of a journal, in plain ASCII', async () => {
  await fc.assert(
    fc.asyncProperty(orderIds, async (orderId) => {
      const text = await textOf(toHledger(streamOf(sampleRow({ orderId }))))
      expect(text).toMatch(/^[\n -~]*$/)
      const [, tag = ''] = /, order:([^,\n]*), payer:/.exec(text) ?? []
      expect(decodeURIComponent(tag)).toBe(orderId)
    }),
  )
})

test('an export that is left early ends the stream of rows', async () => {
  for (const write of [toCsv, toJsonLines, toHledger]) {
    let hasEnded = false
    async function* rows() {
      try {
        for (;;) yield sampleRow()
      } finally {
        hasEnded = true
      }
    }
    let lines = 0
    for await (const _ of write(rows())) if (++lines === 3) break
    expect(hasEnded).toBe(true)
  }
})
