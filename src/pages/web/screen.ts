import { createFormat, formatTimeLeft } from './format.js'
import { type Model, tokenOf } from './model.js'
import type { PageData } from './pageData.js'
import { type Actions, renderView } from './view.js'
import type { Words } from './words.js'

/** Where a payment is shown: the page, or what is inside an element. */
export type Place = {
  /** The parts go here. */
  main: HTMLElement
  /** Its text is read aloud when it changes. */
  status: HTMLElement
}

/** What is shown, and the way to change it. */
export type Screen = {
  model(): Model
  change(changes: Partial<Model>): void
  /** What the words of the model are made with. */
  words(): Words
}

type CreateScreenParameters = {
  data: PageData
  orderId: string
  place: Place
  /** Unix seconds. */
  now: () => number
  createActions: (screen: Screen) => Actions
  /** Stops the countdown. */
  signal: AbortSignal
}

/** Shows a model at a place, and again whenever it changes. */
export function createScreen(parameters: CreateScreenParameters): Screen {
  const { data, orderId, place, now, createActions, signal } = parameters
  const { main, status } = place
  const format = createFormat(data)
  let model: Model = {
    link: 'live',
    events: [],
    wallets: [],
    isChoosing: false,
    isUnneeded: false,
    isCallSent: false,
    showsDetails: false,
  }
  let shown = ''

  /** Renders again if anything that the page shows has changed. */
  const render = (isForced = false): void => {
    const looks = JSON.stringify(model, (name, value) =>
      name === 'provider' || name === 'showsDetails' ? undefined : value,
    )
    if (looks === shown && !isForced) return
    shown = looks
    const { title, parts } = renderView(model, {
      ...screen.words(),
      orderId,
      actions,
      now: now(),
    })
    const { activeElement } = main.getRootNode() as Document | ShadowRoot
    const { key } = (activeElement as HTMLElement | null)?.dataset ?? {}
    main.replaceChildren(
      ...parts.flat().filter((part): part is Node => part instanceof Node),
    )
    if (key)
      main
        .querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)
        ?.focus()
    if (status.textContent !== title) status.textContent = title
  }

  const count = (): void => {
    for (const element of main.querySelectorAll<HTMLElement>('[data-until]')) {
      const left = Number(element.dataset.until) - now()
      const text = left > 0 ? formatTimeLeft(left) : format.say('over')
      if (element.textContent === text) continue
      element.textContent = text
      if (left <= 0) render(true)
    }
  }
  const ticking = setInterval(count, 1_000)
  signal.addEventListener('abort', () => clearInterval(ticking))

  const screen: Screen = {
    model: () => model,
    change: (changes) => {
      model = { ...model, ...changes }
      if (!signal.aborted) render()
    },
    words: () => ({ format, data, token: tokenOf(model, data.tokens) }),
  }
  const actions = createActions(screen)
  render()
  return screen
}
