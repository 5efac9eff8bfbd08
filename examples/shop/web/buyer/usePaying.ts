import { useEffect, useRef, useState } from 'react'
import type { BuyerOrder } from '../api/openBuyer.js'
import type { PayPhase } from './authorizePayment.js'
import { type Task, useTask } from './useTask.js'

/** A payment on its way; it outlives the button, should the order move on. */
export type Paying = Task & {
  phase: PayPhase | undefined
  onPhase: (phase: PayPhase | undefined) => void
  /** Whether the order still waits for a payment. */
  isOpen: () => boolean
}

export function usePaying(state: BuyerOrder['state']): Paying {
  const task = useTask()
  const [phase, onPhase] = useState<PayPhase>()
  const newest = useRef(state)
  useEffect(() => {
    newest.current = state
  }, [state])
  const isOpen = (): boolean => newest.current === 'drafted'
  return { ...task, phase, onPhase, isOpen }
}
