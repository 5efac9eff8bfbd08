import { type Place, showParts } from './dom.js'
import { createFormat, formatTimeLeft } from './format.js'
import { looksOf, type Model, tokenOf } from './model.js'
import type { PageData } from './pageData.js'
import type { Actions } from './parts.js'
import { readSentEnd } from './sentEnd.js'
import { renderView } from './view.js'
import type { Words } from './words.js'

/** The model that a page shows, and the way to change it. */
export type Screen = {
  model(): Model
  change(changes: Partial<Model>): void
  /** Returns the format and data for the texts of the model. */
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

/** Renders a model, and renders it again when it changes. */
export function createScreen(parameters: CreateScreenParameters): Screen {
  const { data, orderId, place, now, createActions, signal } = parameters
  const format = createFormat(data)
  let model: Model = {
    link: 'live',
    events: [],
    wallets: [],
    isChoosing: false,
    isUnneeded: false,
    sentEnd: readSentEnd(orderId),
    showsDetails: false,
  }
  let rendered = ''

  /** Renders again if a visible part of the model has changed. */
  const render = (isForced = false): void => {
    const looks = looksOf(model)
    if (looks === rendered && !isForced) return
    rendered = looks
    const shown = renderView(model, {
      ...screen.words(),
      data,
      orderId,
      actions,
      now: now(),
    })
    showParts(place, shown)
  }

  const count = (): void => {
    for (const element of place.main.querySelectorAll<HTMLElement>(
      '[data-until]',
    )) {
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
