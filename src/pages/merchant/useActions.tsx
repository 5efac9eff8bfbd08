import { type ReactNode, useEffect, useState } from 'react'
import { Button } from '../ui/Button.js'
import { shortHex } from '../ui/format.js'
import { Notice } from '../ui/Notice.js'
import { failedWords, sentenceOf } from './actionWords.js'
import type { BookOrder } from './applyEvent.js'
import { CaptureDialog } from './CaptureDialog.js'
import { ConfirmDialog } from './ConfirmDialog.js'
import type { MerchantApi } from './merchantApi.js'
import type { Ask, OrderAction } from './OrderActions.js'
import { type RefundChoice, RefundDialog } from './RefundDialog.js'
import { createRefundIds } from './refundIds.js'
import type { SecondPayment } from './secondPayments.js'
import { orderTitle } from './shop.js'

type Result = { tone: 'good' | 'bad'; title: string; text?: string | undefined }

/**
 * Asks for a confirmation, acts, and shows the result above the table. Shows a
 * failure in the order's row, too, because the table may be long.
 */
export function useActions(
  api: MerchantApi,
  {
    onExpect,
    onFail,
    onDone,
  }: {
    onExpect: (orderId: string, pending: BookOrder['pending']) => void
    onFail: (orderId: string, failure: string) => void
    onDone: (orderId: string) => void
  },
): {
  ask: Ask
  dialog: ReactNode
  notice: ReactNode
  /** The id of the order of the last action. */
  actedOn: string | undefined
} {
  const [asked, setAsked] = useState<{
    action: OrderAction
    order: BookOrder
    second?: SecondPayment | undefined
  }>()
  const [result, setResult] = useState<Result>()
  const [actedOn, setActedOn] = useState<string>()
  useEffect(() => {
    if (result?.tone !== 'good') return undefined
    const timer = setTimeout(() => setResult(undefined), successShown)
    return () => clearTimeout(timer)
  }, [result])

  const [ids] = useState(createRefundIds)

  async function act(
    action: OrderAction,
    order: BookOrder,
    work: () => Promise<unknown>,
  ): Promise<void> {
    setAsked(undefined)
    setResult(undefined)
    setActedOn(order.id)
    onExpect(order.id, action === 'capture' ? 'capture' : undefined)
    try {
      await work()
      if (action !== 'capture') setResult({ tone: 'good', title: done[action] })
    } catch (error) {
      const name = orderTitle(order)
      const text = sentenceOf(action, error)
      onFail(order.id, `${failedWords[action]}. ${text}`)
      setResult({
        tone: 'bad',
        title: `${failedWords[action]}: ${name}, order ${shortHex(order.id)}`,
        text,
      })
    }
    onDone(order.id)
    // No event reports a capture that fails again for the same reason.
    if (action === 'capture')
      for (const pause of [1_500, 5_000])
        setTimeout(() => onDone(order.id), pause)
  }

  async function refund(order: BookOrder, choice: RefundChoice): Promise<void> {
    const refundId = ids.take(order.id, choice.second?.refundId)
    try {
      await api.refund(order.id, {
        refundId,
        amount: choice.amount,
        reason: choice.reason,
      })
      ids.settle(refundId)
    } catch (error) {
      ids.settle(refundId, error)
      throw error
    }
  }

  const close = () => setAsked(undefined)
  const { action, order, second } = asked ?? {}
  const isCeiling = action === 'capture' && order?.atMost !== undefined
  return {
    actedOn,
    ask: (action, order, second) => setAsked({ action, order, second }),
    dialog: (
      <>
        <ConfirmDialog
          asked={
            order && action && action !== 'refund' && !isCeiling
              ? { action, order }
              : undefined
          }
          onConfirm={(action, order) =>
            act(action, order, () => api[action](order.id))
          }
          onClose={close}
        />
        <CaptureDialog
          order={isCeiling ? order : undefined}
          onConfirm={(order, amount) =>
            act('capture', order, () => api.capture(order.id, amount))
          }
          onClose={close}
        />
        <RefundDialog
          order={action === 'refund' ? order : undefined}
          second={second}
          onConfirm={(order, choice) =>
            act('refund', order, () => refund(order, choice))
          }
          onClose={close}
        />
      </>
    ),
    notice: result && (
      <Notice
        tone={result.tone}
        title={result.title}
        action={
          <Button
            size="small"
            variant="quiet"
            onClick={() => setResult(undefined)}
          >
            Dismiss
          </Button>
        }
      >
        {result.text}
      </Notice>
    ),
  }
}

/** Milliseconds. By then, the row itself shows the result. */
const successShown = 20_000

const done: Record<Exclude<OrderAction, 'capture'>, string> = {
  void: 'Order voided.',
  reauthorize: 'The buyer can sign again on the order page.',
  cancel: 'Cancellation sent.',
  refund: 'Refund requested. It is sent once the capture is final.',
}
