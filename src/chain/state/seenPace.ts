/** How a network pre-confirms, as far as waiting for an outcome is concerned. */
export type Pace = {
  /** The tag that shows a transaction first, now. */
  tag: 'pending' | 'latest'
  /** Milliseconds between two looks that make sense. */
  pollingInterval: number
}

/** What was last seen of the network behind a transport. */
export const seenPaces: WeakMap<object, Pace> = /* @__PURE__ */ new WeakMap()
