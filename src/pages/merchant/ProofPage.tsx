import type { ReactNode } from 'react'
import { describeOrder } from '../../client/describeOrder.js'
import { AddressText } from '../ui/AddressText.js'
import { BackLink } from '../ui/BackLink.js'
import { Card } from '../ui/Card.js'
import { Notice } from '../ui/Notice.js'
import { Skeleton } from '../ui/Skeleton.js'
import type { BookOrder } from './applyEvent.js'
import { Deadline } from './Deadline.js'
import { History } from './History.js'
import type { MerchantApi } from './merchantApi.js'
import { OrderActions } from './OrderActions.js'
import { OrderAmount } from './OrderAmount.js'
import { OrderStatus } from './OrderStatus.js'
import { OverpaidNotice } from './OverpaidNotice.js'
import { ProofCard } from './ProofCard.js'
import { RefundsCard } from './RefundsCard.js'
import { orderTitle, useShop, useToken } from './shop.js'
import { TransactionCard } from './TransactionCard.js'
import { useActions } from './useActions.js'
import { useProvenOrder } from './useProvenOrder.js'

/** Shows one order, its history, and its proof from the chain. */
export function ProofPage({
  api,
  orderId,
}: {
  api: MerchantApi
  orderId: string
}): ReactNode {
  const { order, events, problem, refresh, expect } = useProvenOrder(
    api,
    orderId,
  )
  const { root } = useShop()
  const actions = useActions(api, {
    onExpect: expect,
    onFail: (id) => expect(id, undefined),
    onDone: refresh,
  })
  return (
    <div className="stack stack-wide">
      <p>
        <BackLink href={root}>All orders</BackLink>
      </p>
      {problem && <Notice tone="bad" title={problem} />}
      {!order && !problem && <Skeleton lines={6} label="Loading the order" />}
      {actions.notice}
      {order && (
        <>
          <OrderHead order={order} onAsk={actions.ask} />
          <OverpaidNotice order={order} events={events} onAsk={actions.ask} />
          <div className="columns">
            <div className="stack stack-wide">
              <RefundsCard order={order} />
              <ProofCard api={api} order={order} />
              <TransactionCard order={order} />
            </div>
            <History events={events} />
          </div>
        </>
      )}
      {actions.dialog}
    </div>
  )
}

function OrderHead({
  order,
  onAsk,
}: {
  order: BookOrder
  onAsk: Parameters<typeof OrderActions>[0]['onAsk']
}): ReactNode {
  const { symbol } = useToken(order)
  const { id, payer } = order
  const { detail, next } = describeOrder(order, {
    for: 'merchant',
    symbol,
  })
  return (
    <Card>
      <div className="order-head">
        <div className="stack stack-tight">
          <h1>{orderTitle(order)}</h1>
          <OrderAmount large order={order} />
          <p className="muted small">
            Order <span className="mono">{id}</span>
          </p>
        </div>
        <dl className="order-facts">
          <div>
            <dt>State</dt>
            <dd aria-live="polite">
              <OrderStatus order={order} />
            </dd>
          </div>
          <div>
            <dt>Payer</dt>
            <dd>
              {payer ? (
                <AddressText address={payer} label="payer’s address" />
              ) : (
                'not signed yet'
              )}
            </dd>
          </div>
          <div>
            <dt>Deadline</dt>
            <dd>
              <Deadline order={order} />
            </dd>
          </div>
        </dl>
        <OrderActions order={order} onAsk={onAsk} withProof={false} />
      </div>
      <p className="muted small order-meaning">
        {detail} {next}
      </p>
    </Card>
  )
}
