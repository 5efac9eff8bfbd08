import { type ReactNode, useCallback, useEffect, useState } from 'react'
import { formatSigned } from '../../core/formatSigned.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { readNow } from '../ui/clock.js'
import { groupAmount, shortAmount, shortHex } from '../ui/format.js'
import { Money } from '../ui/Money.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import { Table } from '../ui/Table.js'
import { BarChart } from './BarChart.js'
import { Choice } from './Choice.js'
import {
  daysOf,
  type IncomeLine,
  incomeCsv,
  lastDays,
  netOf,
  sumIncome,
  unitKey,
} from './income.js'
import type { MerchantApi } from './merchantApi.js'
import { saveFile } from './saveFile.js'
import { isOfToken, type PagesShop, useShop } from './shop.js'
import { useRequest } from './useRequest.js'

const options = [
  { value: 30, label: '30 days' },
  { value: 90, label: '90 days' },
]

type Income = { days: readonly string[]; lines: readonly IncomeLine[] }

/** Shows income and fees by day, as charts, as a table and as CSV. */
export function IncomeCard({ api }: { api: MerchantApi }): ReactNode {
  const [count, setCount] = useState(30)
  return (
    <Card
      title="Income and fees by day"
      actions={
        <Choice
          legend="Period of the income"
          options={options}
          value={count}
          onChoose={setCount}
        />
      }
    >
      <IncomeOf key={count} api={api} count={count} />
    </Card>
  )
}

/** The income of so many days. */
function IncomeOf({
  api,
  count,
}: {
  api: MerchantApi
  count: number
}): ReactNode {
  const shop = useShop()
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const ask = useCallback(async (): Promise<Income> => {
    const dayOf = daysOf(timeZone)
    const now = readNow()
    const days = lastDays(dayOf(now), count)
    // Two hours more, because a day can have 25 hours.
    const from = Math.max(0, now - count * 86_400 - 7200)
    const rows = await api.bookings(BigInt(from))
    const lines = await sumIncome(rows, { days, dayOf })
    return { days, lines: lines.map((line) => nameUnit(shop, line)) }
  }, [api, shop, count, timeZone])
  const { answer, problem, run } = useRequest(ask)
  useEffect(() => {
    void run()
  }, [run])
  return (
    <div className="stack">
      <p className="muted small">
        Captures, refunds and gas on record. Days are those of your time zone,{' '}
        {timeZone}. Transfers without an order are left out.
      </p>
      {problem && <Notice tone="bad" title={problem} />}
      {!answer && !problem && <Skeleton label="Adding up" lines={6} />}
      {answer?.lines.length === 0 && (
        <p className="quiet-line">Nothing came in or went out.</p>
      )}
      {answer && answer.lines.length > 0 && (
        <IncomeFigures income={answer} timeZone={timeZone} />
      )}
    </div>
  )
}

function IncomeFigures({
  income: { days, lines },
  timeZone,
}: {
  income: Income
  timeZone: string
}): ReactNode {
  const save = (): void => {
    const csv = incomeCsv(lines, timeZone)
    saveFile(new Blob([csv], { type: 'text/csv' }), 'income.csv')
  }
  const units = new Map(lines.map((line) => [unitKey(line), line]))
  return (
    <>
      {[...units].map(([key, unit]) => (
        <IncomeChart
          key={key}
          days={days}
          unit={unit}
          lines={lines.filter((line) => unitKey(line) === key)}
        />
      ))}
      <details className="figures">
        <summary>Show the figures by day</summary>
        <IncomeTable lines={lines} />
      </details>
      <div className="row">
        <Button size="small" onClick={save}>
          Income as CSV
        </Button>
      </div>
    </>
  )
}

function IncomeChart({
  days,
  unit,
  lines,
}: {
  days: readonly string[]
  unit: IncomeLine
  lines: readonly IncomeLine[]
}): ReactNode {
  const { symbol, decimals, token, chainId } = unit
  const byDay = new Map(lines.map((line) => [line.day, line]))
  const sumOf = (part: 'captured' | 'refunded' | 'gas') =>
    lines.reduce((sum, line) => sum + line[part], 0n)
  const isToken = token !== undefined
  const say = (value: bigint) => {
    const exact = formatSigned(value, unit)
    return `${groupAmount(isToken ? exact : shortAmount(exact))} ${symbol}`
  }
  const { chain = `chain ${chainId}` } =
    useShop().tokens.find((one) => one.chainId === chainId) ?? {}
  const title = `${isToken ? 'Income' : 'Gas'} in ${symbol}, ${chain}`
  const words = isToken
    ? `Captured ${say(sumOf('captured'))}, refunded ${say(sumOf('refunded'))}.`
    : `Paid ${say(sumOf('gas'))}.`
  return (
    <div>
      <h3>{title}</h3>
      <p className="muted small">{words}</p>
      <BarChart
        title={title}
        words={`${words} The table below has the figures.`}
        empty="Nothing came in or went out."
        decimals={decimals}
        bars={days.map((day) => {
          const { captured, refunded, gas } = byDay.get(day) ?? none
          return {
            key: day,
            label: dayWords(day),
            parts: isToken
              ? [
                  { look: 'finalized', value: captured },
                  { look: 'out', value: -refunded },
                ]
              : [{ look: 'out', value: gas }],
          }
        })}
        legend={
          isToken
            ? [
                { look: 'finalized', words: 'captured' },
                { look: 'out', words: 'refunded' },
              ]
            : [{ look: 'out', words: 'paid for gas' }]
        }
      />
    </div>
  )
}

const none = { captured: 0n, refunded: 0n, gas: 0n }

function IncomeTable({ lines }: { lines: readonly IncomeLine[] }): ReactNode {
  const money = (pick: (line: IncomeLine) => bigint) => (line: IncomeLine) => (
    <Money
      short={line.token === undefined}
      amount={formatSigned(pick(line), line)}
      symbol={line.symbol}
    />
  )
  const amount = (title: string, pick: (line: IncomeLine) => bigint) => ({
    key: title,
    title,
    isNumber: true,
    cell: money(pick),
  })
  return (
    <Table
      caption="Income and fees by day"
      rows={lines}
      rowKey={(line) => `${line.day} ${unitKey(line)}`}
      columns={[
        { key: 'day', title: 'Day', cell: ({ day }) => day },
        { key: 'chain', title: 'Chain', cell: ({ chainId }) => chainId },
        {
          key: 'captures',
          title: 'Captures',
          isNumber: true,
          cell: ({ captures }) => captures,
        },
        amount('Captured', ({ captured }) => captured),
        amount('Refunded', ({ refunded }) => refunded),
        amount('Gas', ({ gas }) => gas),
        amount('Net', netOf),
      ]}
    />
  )
}

/** Names a token as the rest of the pages does. */
function nameUnit({ tokens }: PagesShop, line: IncomeLine): IncomeLine {
  const { chainId, token, symbol } = line
  const known =
    token && tokens.find((one) => isOfToken(one, { chainId, token }))
  return { ...line, symbol: known ? known.symbol : shortHex(symbol) }
}

function dayWords(day: string): string {
  return new Date(day).toLocaleDateString([], {
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  })
}
