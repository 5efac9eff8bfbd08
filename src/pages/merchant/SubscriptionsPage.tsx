import { type ReactNode, useCallback, useEffect, useState } from 'react'
import type { Answers } from '../../http/schemas/answerTypes.js'
import { AddressText } from '../ui/AddressText.js'
import { Badge } from '../ui/Badge.js'
import { Button } from '../ui/Button.js'
import { Card } from '../ui/Card.js'
import { Countdown } from '../ui/Countdown.js'
import { EmptyState } from '../ui/EmptyState.js'
import { shortHex, spanWords } from '../ui/format.js'
import { Money } from '../ui/Money.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import type { Tone } from '../ui/states.js'
import { Table } from '../ui/Table.js'
import { ListNav } from './ListNav.js'
import type { MerchantApi } from './merchantApi.js'
import { StatesTable } from './StatesTable.js'
import { orderTitle, orderToken, useShop } from './shop.js'
import { usePages } from './usePages.js'

type Subscription = Answers['Subscription']

const stateWords: Record<Subscription['state'], readonly [string, Tone]> = {
  drafted: ['Not signed yet', 'neutral'],
  active: ['Active', 'good'],
  pastDue: ['Past due', 'warn'],
  unpaid: ['Unpaid', 'bad'],
  canceling: ['Being canceled', 'warn'],
  canceled: ['Canceled', 'neutral'],
  ended: ['Ended', 'neutral'],
}

/** Lists subscriptions, each with its charges. */
export function SubscriptionsPage({ api }: { api: MerchantApi }): ReactNode {
  const [chosen, setChosen] = useState<Subscription>()
  const read = useCallback(
    async (before?: string) => {
      const { subscriptions, cursor } = await api.subscriptions(before)
      return { rows: subscriptions, cursor }
    },
    [api],
  )
  return (
    <div className="stack stack-wide">
      <div className="page-head">
        <div>
          <h1>Subscriptions</h1>
          <p>What smart wallets let you charge each period.</p>
        </div>
      </div>
      <ListNav current="subscriptions" />
      <PagesCard
        title="All subscriptions"
        empty="Nobody has subscribed yet."
        read={read}
      >
        {(rows) => <SubscriptionsTable rows={rows} onChoose={setChosen} />}
      </PagesCard>
      {chosen && <ChargesCard key={chosen.id} api={api} of={chosen} />}
    </div>
  )
}

export function SubscriptionsTable({
  rows,
  onChoose,
}: {
  rows: readonly Subscription[]
  /** Absent if the charges are shown already. */
  onChoose?: ((subscription: Subscription) => void) | undefined
}): ReactNode {
  const shop = useShop()
  return (
    <Table
      caption="Subscriptions, the newest first"
      rows={rows}
      rowKey={({ id }) => id}
      columns={[
        {
          key: 'subscription',
          title: 'Subscription',
          cell: (one) => (
            <span title={one.id}>
              {titleOf(one)}, {shortHex(one.id)}
            </span>
          ),
        },
        {
          key: 'amount',
          title: 'Each period',
          isNumber: true,
          cell: (one) => (
            <div>
              {one.amount === undefined ? (
                <span className="muted">no schedule</span>
              ) : (
                <Money
                  amount={one.amount}
                  symbol={orderToken(shop, one).symbol}
                />
              )}
              <p className="muted cell-note">
                every {spanWords(Number(one.permission.message.period))}
              </p>
            </div>
          ),
        },
        {
          key: 'payer',
          title: 'Payer',
          cell: ({ payer }) => (
            <AddressText address={payer} label="payer’s address" />
          ),
        },
        {
          key: 'state',
          title: 'State',
          cell: ({ state }) => {
            const [label, tone] = stateWords[state]
            return <Badge tone={tone}>{label}</Badge>
          },
        },
        {
          key: 'due',
          title: 'Next charge',
          cell: ({ due }) =>
            due === undefined ? (
              <span className="muted">–</span>
            ) : (
              <Countdown until={due} over="now" near={0} />
            ),
        },
        ...(onChoose
          ? [
              {
                key: 'charges',
                title: 'Charges',
                cell: (one: Subscription) => (
                  <Button
                    size="small"
                    variant="quiet"
                    onClick={() => onChoose(one)}
                  >
                    Charges
                    <span className="visually-hidden">
                      {' '}
                      of {shortHex(one.id)}
                    </span>
                  </Button>
                ),
              },
            ]
          : []),
      ]}
    />
  )
}

/** Lists the charges of a subscription. Each leads to its proof. */
export function ChargesCard({
  api,
  of: subscription,
}: {
  api: MerchantApi
  of: Subscription
}): ReactNode {
  const { id } = subscription
  const read = useCallback(
    async (before?: string) => {
      const { charges, cursor } = await api.charges(id, before)
      return { rows: charges, cursor }
    },
    [api, id],
  )
  return (
    <PagesCard
      title={`Charges: ${titleOf(subscription)}, ${shortHex(id)}`}
      empty="Nothing was charged yet."
      read={read}
    >
      {(orders) => (
        <StatesTable
          caption="Charges, the newest first"
          title="Charge"
          orders={orders}
        />
      )}
    </PagesCard>
  )
}

/** A card with a table that is read page by page. */
function PagesCard<row>({
  title,
  empty,
  read,
  children,
}: {
  title: string
  /** The words for a list without rows. */
  empty: string
  read: Parameters<typeof usePages<row>>[0]
  children: (rows: readonly row[]) => ReactNode
}): ReactNode {
  const { rows, hasMore, problem, isBusy, more } = usePages(read)
  useEffect(() => {
    void more()
  }, [more])
  return (
    <Card flush title={title}>
      {problem && (
        <div className="inset">
          <Notice tone="bad" title={problem} />
        </div>
      )}
      {isBusy && rows.length === 0 && (
        <div className="inset">
          <Skeleton lines={4} label="Loading" />
        </div>
      )}
      {rows.length > 0 && children(rows)}
      {!isBusy && !problem && !hasMore && rows.length === 0 && (
        <EmptyState level={3} title="Nothing here">
          {empty}
        </EmptyState>
      )}
      {(hasMore || problem) && (
        <div className="inset row row-end">
          <Button size="small" busy={isBusy} onClick={() => void more()}>
            {problem ? 'Try again' : 'Show older ones'}
          </Button>
        </div>
      )}
    </Card>
  )
}

function titleOf(subscription: Subscription): string {
  const title = orderTitle(subscription)
  return title === 'Order' ? 'Subscription' : title
}
