import { type ReactNode, useState } from 'react'
import { Problem } from '../api/Problem.js'
import { Button } from '../ui/Button.js'
import { Notice } from '../ui/Notice.js'
import type { BookOrder } from './applyEvent.js'
import { ConfirmDialog } from './ConfirmDialog.js'
import type { MerchantApi } from './merchantApi.js'
import type { Ask, OrderAction } from './OrderActions.js'
import { reasonWords } from './reasonWords.js'
import { productName, useShop } from './shopConfig.js'
import { wordsOf } from './wordsOf.js'

type Told = { tone: 'good' | 'bad'; title: string; text?: string | undefined }

/** Asks before money moves or is given up, acts, and says what came of it. */
export function useActions(
  api: MerchantApi,
  {
    onExpect,
    onDone,
  }: {
    onExpect: (orderId: string, pending: BookOrder['pending']) => void
    onDone: (orderId: string) => void
  },
): {
  ask: Ask
  dialog: ReactNode
  notice: ReactNode
  /** The order that something was asked for last. */
  actedOn: string | undefined
} {
  const shop = useShop()
  const [asked, setAsked] = useState<{
    action: OrderAction
    order: BookOrder
  }>()
  const [told, setTold] = useState<Told>()
  const [actedOn, setActedOn] = useState<string>()

  async function act(action: OrderAction, order: BookOrder): Promise<void> {
    setAsked(undefined)
    setTold(undefined)
    setActedOn(order.id)
    if (action === 'capture') onExpect(order.id, 'capture')
    try {
      await api[action](order.id)
      if (action !== 'capture') setTold({ tone: 'good', title: done[action] })
    } catch (error) {
      onExpect(order.id, undefined)
      const name = productName(shop, order.metadata)
      setTold({
        tone: 'bad',
        title: `${failed[action]}: ${name}`,
        text: sentenceOf(error),
      })
    }
    onDone(order.id)
    // A capture that is refused as before is told by no event.
    if (action === 'capture')
      for (const pause of [1_500, 5_000])
        setTimeout(() => onDone(order.id), pause)
  }

  return {
    actedOn,
    ask: (action, order) => setAsked({ action, order }),
    dialog: (
      <ConfirmDialog
        asked={asked}
        onConfirm={act}
        onClose={() => setAsked(undefined)}
      />
    ),
    notice: told && (
      <Notice
        tone={told.tone}
        title={told.title}
        action={
          <Button
            size="small"
            variant="quiet"
            onClick={() => setTold(undefined)}
          >
            Dismiss
          </Button>
        }
      >
        {told.text}
      </Notice>
    ),
  }
}

const done: Record<Exclude<OrderAction, 'capture'>, string> = {
  void: 'The order is voided.',
  reauthorize: 'The buyer can sign again; the page of the order shows it.',
  cancel: 'The cancellation is on its way to the chain.',
}

const failed: Record<OrderAction, string> = {
  capture: 'Not captured',
  void: 'Not voided',
  reauthorize: 'The buyer cannot be asked again',
  cancel: 'Not canceled',
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Problem)) return wordsOf(error)
  const known = reasonWords(error.reason)
  return known === error.reason
    ? wordsOf(error)
    : `${known.charAt(0).toUpperCase()}${known.slice(1)}.`
}
