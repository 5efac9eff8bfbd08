import { chooseLanguage } from '../pages/chooseLanguage.js'
import type { PageToken } from '../pages/web/pageData.js'
import type { PaymentEvents } from '../pages/web/reportEvents.js'
import { showPayment } from '../pages/web/showPayment.js'
import { englishPaymentWords } from '../pages/words/englishPaymentWords.js'
import { germanPaymentWords } from '../pages/words/germanPaymentWords.js'
import type { PageWords, PaymentWords } from '../pages/words/types.js'
import { elementStyles } from './elementStyles.js'
import { knownPageTokens } from './knownPageTokens.js'

/** The events of {@link CountersignPayElement}. They bubble. */
export type CountersignPayEventMap = {
  [type in keyof PaymentEvents]: CustomEvent<PaymentEvents[type]>
}

type Listener<type extends keyof CountersignPayEventMap> = (
  this: CountersignPayElement,
  event: CountersignPayEventMap[type],
) => unknown

/** Servers have no `HTMLElement`, but import this module to render pages. */
const Base = (globalThis.HTMLElement ?? class {}) as typeof HTMLElement

const languages: Readonly<Record<string, PaymentWords>> = {
  en: englishPaymentWords,
  de: germanPaymentWords,
}

let sheet: CSSStyleSheet | undefined

/**
 * `<countersign-pay>` shows an order to its buyer, as the payment page does: the
 * buyer chooses a wallet, sees everything that is signed, signs, follows the
 * payment, and cancels it. Importing `countersign/element` defines it.
 *
 * Attributes: `order-id`; `token`, the buyer's token from the result of `draft`;
 * `payments`, the address of the routes of `createPaymentHandler`, by default
 * `/payments`; `name`, the name of the shop; `language`, by default that of the
 * page; `return-url`, the `https:` or `http:` address of a link back to the
 * shop. The element shows nothing without `order-id` and `token`, says so if
 * `payments` is no address (`failed` with `wrongAddress`), and starts over if an
 * attribute or property gets another value. It drops a signature that comes
 * after that, or after the element was removed.
 *
 * It renders in a shadow root. A Content-Security-Policy without
 * `unsafe-inline` allows its style sheet. CSS variables set its colours:
 * `--accent`, `--on-accent`, `--surface`, `--text`, `--quiet`, `--line`,
 * `--strong`, `--warn`, `--bad`.
 *
 * @example
 * ```ts
 * import 'countersign/element'
 *
 * export function showOrder(orderId: string, buyerToken: string) {
 *   const element = document.createElement('countersign-pay')
 *   element.setAttribute('order-id', orderId)
 *   element.setAttribute('token', buyerToken)
 *   element.addEventListener('captured', ({ detail }) => {
 *     console.log(detail.orderId, detail.order.transaction?.hash)
 *   })
 *   document.body.append(element)
 * }
 * ```
 */
export class CountersignPayElement extends Base {
  static readonly observedAttributes: readonly string[] = [
    'order-id',
    'token',
    'payments',
    'name',
    'language',
    'return-url',
  ]

  #tokens: readonly PageToken[] = knownPageTokens()
  #words: PageWords | undefined
  #running: AbortController | undefined
  #isPlanned = false

  /**
   * The tokens that buyers can pay with. An order in another token cannot be
   * signed. By default USDC, where Circle issues it and on development chains.
   */
  get tokens(): readonly PageToken[] {
    return this.#tokens
  }

  set tokens(tokens: readonly PageToken[]) {
    const isNew = isOther(tokens, this.#tokens)
    this.#tokens = tokens
    if (isNew) this.#plan()
  }

  /** Texts that replace those of the language. */
  get words(): PageWords | undefined {
    return this.#words
  }

  set words(words: PageWords | undefined) {
    const isNew = isOther(words, this.#words)
    this.#words = words
    if (isNew) this.#plan()
  }

  /** The browser calls this when the element is added to a document. */
  connectedCallback(): void {
    // Properties set before the element was defined hide the accessors: set
    // them again through the accessors.
    for (const name of ['tokens', 'words'] as const) {
      const own = Object.getOwnPropertyDescriptor(this, name)
      Reflect.deleteProperty(this, name)
      if (own) Object.assign(this, { [name]: own.value })
    }
    this.#plan()
  }

  /** The browser calls this when the element is removed from a document. */
  disconnectedCallback(): void {
    this.#running?.abort()
  }

  /** The browser calls this when an attribute is set, even to its own value. */
  attributeChangedCallback(
    _name: string,
    before: string | null,
    value: string | null,
  ): void {
    if (value !== before) this.#plan()
  }

  /** Listens to an event of the payment. */
  override addEventListener<type extends keyof CountersignPayEventMap>(
    type: type,
    listener: Listener<type>,
    options?: boolean | AddEventListenerOptions,
  ): void
  /** Listens to an event that all elements have, such as `click`. */
  override addEventListener<type extends keyof HTMLElementEventMap>(
    type: type,
    listener: (this: HTMLElement, event: HTMLElementEventMap[type]) => unknown,
    options?: boolean | AddEventListenerOptions,
  ): void
  /** Listens to any other event. */
  override addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | AddEventListenerOptions,
  ): void
  override addEventListener(
    type: string,
    listener: unknown,
    options?: boolean | AddEventListenerOptions,
  ): void {
    super.addEventListener(type, listener as EventListener, options)
  }

  /** Stops listening to an event of the payment. */
  override removeEventListener<type extends keyof CountersignPayEventMap>(
    type: type,
    listener: Listener<type>,
    options?: boolean | EventListenerOptions,
  ): void
  /** Stops listening to an event that all elements have, such as `click`. */
  override removeEventListener<type extends keyof HTMLElementEventMap>(
    type: type,
    listener: (this: HTMLElement, event: HTMLElementEventMap[type]) => unknown,
    options?: boolean | EventListenerOptions,
  ): void
  /** Stops listening to any other event. */
  override removeEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject,
    options?: boolean | EventListenerOptions,
  ): void
  override removeEventListener(
    type: string,
    listener: unknown,
    options?: boolean | EventListenerOptions,
  ): void {
    super.removeEventListener(type, listener as EventListener, options)
  }

  /** Starts once, even if several attributes are set at the same time. */
  #plan(): void {
    if (this.#isPlanned) return
    this.#isPlanned = true
    queueMicrotask(() => {
      this.#isPlanned = false
      this.#begin()
    })
  }

  #begin(): void {
    this.#running?.abort()
    const orderId = this.getAttribute('order-id')
    const buyerToken = this.getAttribute('token')
    const root = this.shadowRoot ?? openRoot(this)
    root.replaceChildren()
    if (!this.isConnected || !orderId || !buyerToken) return
    const running = new AbortController()
    this.#running = running
    const main = document.createElement('div')
    main.className = 'parts'
    const status = document.createElement('p')
    status.className = 'unseen'
    status.setAttribute('role', 'status')
    root.append(main, status)
    const language = this.#chooseLanguage()
    showPayment({
      data: {
        payments: this.getAttribute('payments') ?? '/payments',
        name: this.getAttribute('name') ?? location.host,
        tokens: this.#tokens,
        returnUrl: readWebAddress(this.getAttribute('return-url')),
        terms: undefined,
        language,
        words: this.#words ?? languages[language] ?? englishPaymentWords,
      },
      link: { orderId, buyerToken },
      place: { main, status },
      signal: running.signal,
      onEvent: (type, detail) => {
        this.dispatchEvent(
          new CustomEvent(type, { detail, bubbles: true, composed: true }),
        )
      },
    })
  }

  #chooseLanguage(): string {
    const wanted = [
      this.getAttribute('language'),
      this.closest('[lang]')?.getAttribute('lang'),
      ...navigator.languages,
    ]
    return chooseLanguage(
      wanted.filter(Boolean).join(','),
      Object.keys(languages),
    )
  }
}

/**
 * True if two values differ in content. Frameworks set properties at each
 * rendering, and starting over would drop a signature.
 */
function isOther(value: unknown, before: unknown): boolean {
  return JSON.stringify(value) !== JSON.stringify(before)
}

/** A shop may copy the address from its own URL, so it could be a script. */
function readWebAddress(text: string | null): string | undefined {
  if (!text) return undefined
  const link = document.createElement('a')
  link.href = text
  return /^https?:/.test(link.href) ? link.href : undefined
}

function openRoot(element: HTMLElement): ShadowRoot {
  if (!sheet) {
    sheet = new CSSStyleSheet()
    sheet.replaceSync(elementStyles)
  }
  const root = element.attachShadow({ mode: 'open' })
  root.adoptedStyleSheets = [sheet]
  return root
}

/** Name of the element, for `customElements.whenDefined`. */
export const payElementName = 'countersign-pay'

declare global {
  interface HTMLElementTagNameMap {
    'countersign-pay': CountersignPayElement
  }
}

if (globalThis.customElements && !customElements.get(payElementName))
  customElements.define(payElementName, CountersignPayElement)
