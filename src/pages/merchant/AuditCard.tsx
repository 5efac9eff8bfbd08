import { type ReactNode, useEffect } from 'react'
import { formatAmount } from '../../core/amount.js'
import type { Wire } from '../../http/schemas/answerTypes.js'
import type { AuditReport } from '../../orders/index.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Facts } from '../ui/Facts.js'
import { HashLink } from '../ui/HashLink.js'
import { Money } from '../ui/Money.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import { Table } from '../ui/Table.js'
import type { MerchantApi } from './merchantApi.js'
import { transactionUrl, useToken } from './shop.js'
import { useRequest } from './useRequest.js'

type Report = Wire<AuditReport>
type Destination = Report['destinations'][number]
type Difference = Destination['differences'][number]

/** Compares the sums on the chain with the record, exact to the token unit. */
export function AuditCard({ api }: { api: MerchantApi }): ReactNode {
  const { answer, problem, isBusy, run } = useRequest(api.audit)
  useEffect(() => {
    void run()
  }, [run])
  return (
    <Card
      title="Audit"
      actions={
        <Button size="small" variant="primary" busy={isBusy} onClick={run}>
          {isBusy ? 'Comparing' : 'Compare with the chain'}
        </Button>
      }
    >
      <div className="stack">
        <p className="muted small">
          Adds up all transfers that you received on the chain, and all payments
          on record, and compares each refund. Changes nothing.
        </p>
        {problem && <Notice tone="bad" title={problem} />}
        <div className="audit-result stack">
          {answer && <AuditResult report={answer} />}
          {!answer && !problem && <Skeleton label="Comparing" lines={6} />}
        </div>
      </div>
    </Card>
  )
}

function AuditResult({ report }: { report: Report }): ReactNode {
  const differences = report.destinations.flatMap(
    (destination) => destination.differences,
  )
  return (
    <>
      <Notice
        tone={report.ok ? 'good' : 'bad'}
        title={
          report.ok
            ? 'Your records match the chain exactly.'
            : `Your records differ from the chain in ${differences.length} ${differences.length === 1 ? 'place' : 'places'}.`
        }
      >
        {!report.ok && 'Reconcile first, then look into the rest.'}
      </Notice>
      {report.destinations.map((destination) => (
        <DestinationSums
          key={
            destination.destination.recipient + destination.destination.token
          }
          destination={destination}
        />
      ))}
    </>
  )
}

function DestinationSums({
  destination,
}: {
  destination: Destination
}): ReactNode {
  const money = useUnits(destination.destination)
  const { chain, captured, unmatched, refunded, fromBlock, toBlock } =
    destination
  const record = BigInt(captured.value) + BigInt(unmatched.value)
  const isEqual = record === BigInt(chain.value)
  return (
    <>
      <div className="equation">
        <Side title="On the chain" count={chain.count}>
          {money(chain.value)}
        </Side>
        <span className="equation-sign">
          <span aria-hidden="true">{isEqual ? '=' : '≠'}</span>
          <span className="visually-hidden">
            {isEqual ? 'equals' : 'differs from'}
          </span>
        </span>
        <Side title="On record" count={captured.count + unmatched.count}>
          {money(String(record))}
        </Side>
      </div>
      <Facts
        items={[
          ['Blocks', `${fromBlock} to ${toBlock}`],
          ['Paid for orders', money(captured.value)],
          ['Without an order', money(unmatched.value)],
          ['Paid back', refunded.count > 0 && money(refunded.value)],
          [
            'Kept',
            refunded.count > 0 &&
              money(String(record - BigInt(refunded.value))),
          ],
        ]}
      />
      {destination.differences.length > 0 && (
        <Differences
          place={destination.destination}
          rows={destination.differences}
        />
      )}
    </>
  )
}

function Side({
  title,
  count,
  children,
}: {
  title: string
  count: number
  children: ReactNode
}): ReactNode {
  return (
    <p className="equation-side">
      <span className="stat-label">{title}</span>
      <span className="equation-sum">{children}</span>
      <span className="stat-note">
        {count} {count === 1 ? 'transfer' : 'transfers'}
      </span>
    </p>
  )
}

function useUnits(
  place: Destination['destination'],
): (value: string | undefined) => ReactNode {
  const { symbol, decimals } = useToken(place)
  return (value) =>
    value === undefined ? (
      <span className="muted">nothing</span>
    ) : (
      <Money amount={formatAmount(BigInt(value), decimals)} symbol={symbol} />
    )
}

function Differences({
  place,
  rows,
}: {
  place: Destination['destination']
  rows: readonly Difference[]
}): ReactNode {
  const money = useUnits(place)
  const token = useToken(place)
  return (
    <Table
      caption="Transfers that only the chain or only your records have"
      rows={rows}
      rowKey={({ transactionHash, logIndex }) =>
        `${transactionHash}/${logIndex}`
      }
      columns={[
        {
          key: 'hash',
          title: 'Transaction',
          cell: ({ transactionHash }) => (
            <HashLink
              hash={transactionHash}
              href={transactionUrl(token, transactionHash)}
            />
          ),
        },
        {
          key: 'block',
          title: 'Block',
          cell: ({ blockNumber }) => blockNumber,
        },
        {
          key: 'chain',
          title: 'Chain',
          isNumber: true,
          cell: ({ onChain }) => money(onChain),
        },
        {
          key: 'record',
          title: 'Record',
          isNumber: true,
          cell: ({ onRecord }) => money(onRecord),
        },
      ]}
    />
  )
}
