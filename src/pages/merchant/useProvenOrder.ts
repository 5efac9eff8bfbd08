import { useCallback, useEffect, useState } from 'react'
import type { MerchantEvent } from '../../client/MerchantClient.js'
import type { BookOrder } from './applyEvent.js'
import { followEvents } from './followEvents.js'
import type { MerchantApi } from './merchantApi.js'
import { mergeOrder } from './mergeOrder.js'
import { wordsOf } from './wordsOf.js'

export type ProvenOrder = {
  order: BookOrder | undefined
  /** All events of the order, oldest first. */
  events: readonly MerchantEvent[]
  problem: string | undefined
  refresh: () => void
  expect: (orderId: string, pending: BookOrder['pending']) => void
}

/** Reads an order and its history, and follows both. */
export function useProvenOrder(api: MerchantApi, orderId: string): ProvenOrder {
  const [order, setOrder] = useState<BookOrder>()
  const [events, setEvents] = useState<readonly MerchantEvent[]>([])
  const [problem, setProblem] = useState<string>()

  const refresh = useCallback(() => {
    api.get(orderId).then(
      (read) => {
        setOrder((known) => mergeOrder(known, read))
        setProblem(undefined)
      },
      (error: unknown) => setProblem(wordsOf(error)),
    )
  }, [api, orderId])

  useEffect(() => {
    const control = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    refresh()
    void followEvents({
      api,
      orderId,
      after: '0',
      signal: control.signal,
      onConnection: () => undefined,
      // The stream begins with past events, so read the order after them.
      onEvent: (event) => {
        setEvents((known) => addEvent(known, event))
        clearTimeout(timer)
        timer = setTimeout(refresh, 80)
      },
    })
    return () => {
      clearTimeout(timer)
      control.abort()
    }
  }, [api, orderId, refresh])

  const expect = useCallback(
    (_id: string, pending: BookOrder['pending']) =>
      setOrder((known) => known && { ...known, pending }),
    [],
  )
  const isCancelKept = events.some(
    ({ type, data }) =>
      type === 'cancellationAccepted' && data.relayed === false,
  )
  return {
    order: order && { ...order, isCancelKept },
    events,
    problem,
    refresh,
    expect,
  }
}

/** Adds an event once, because the stream may report it more than once. */
function addEvent(
  known: readonly MerchantEvent[],
  event: MerchantEvent,
): readonly MerchantEvent[] {
  return known.some(({ cursor }) => cursor === event.cursor)
    ? known
    : [...known, event]
}
