import type { PaymentRequired } from '@x402/core/types'
import { contextOf, type OrdersContext } from '../orders/engine.js'
import type { X402Paywall } from '../x402/gate/types.js'
import { findWords } from './chooseLanguage.js'
import { isNavigation } from './isNavigation.js'
import { openTokens } from './openTokens.js'
import { parsePaywall, type SettledPaywall } from './parsePages.js'
import { paywallAssets } from './paywallAssets.js'
import {
  nameCookie,
  nonceOf,
  readCookie,
  withPayment,
} from './paywallCookie.js'
import { explainCode, type GateRefusal, readRefusal } from './readRefusal.js'
import { renderPage } from './renderPage.js'
import { securityHeaders } from './securityHeaders.js'
import { contrastOf } from './theme.js'
import type { PaywallParameters } from './types.js'
import type {
  PageToken,
  PaywallAnswer,
  PaywallData,
  ShopData,
} from './web/pageData.js'
import type { PageWords } from './words/types.js'

/**
 * Creates a page on which people pay for an offer of an x402 gate. Pass it to
 * `createX402Gate` as `paywall`.
 *
 * When a browser opens an address of the gate, it gets this page with the 402
 * answer. The buyer pays with a wallet of the browser. The browser then shows
 * your handler's answer to this payment, and after a reload the stored answer.
 * Programs see no difference: headers are the same, and programs that do not
 * ask for HTML get the same body.
 *
 * @throws {@link InvalidFieldError} when a parameter is malformed.
 *
 * @example
 * ```ts
 * import type { Orders } from 'countersign/orders'
 * import { createPaywall } from 'countersign/pages'
 * import { createX402Gate } from 'countersign/x402'
 *
 * export const openGate = (orders: Orders) =>
 *   createX402Gate({
 *     orders,
 *     offers: { article: { amount: '0.10', description: 'One article' } },
 *     paywall: createPaywall({ name: 'Daily News' }),
 *   })
 * ```
 */
export function createPaywall(parameters: PaywallParameters): X402Paywall {
  const settled = parsePaywall(parameters)
  const { script, style } = paywallAssets
  const security = securityHeaders({
    script: `'${script.hash}'`,
    style: `'${style.hash}'`,
    connect: [],
    frameAncestors: settled.frameAncestors,
  })
  const opened = new WeakMap<
    OrdersContext,
    () => Promise<readonly PageToken[]>
  >()
  const getTokens = (context: OrdersContext) => {
    const get = opened.get(context) ?? openTokens(context)
    opened.set(context, get)
    return get()
  }

  return async (request, { orders, resource, keepFor, sell, errorOf }) => {
    if (!isNavigation(request)) return sell(request)
    const cookie = nameCookie(addressOf(request, resource))
    // A `HEAD` request buys nothing.
    const payment =
      request.method === 'GET' ? readCookie(request, cookie) : undefined
    const pays = payment === undefined ? request : withPayment(request, payment)
    const first = await sell(pays)
    const refused = readRefusal(first, errorOf(first))
    if (!refused) return first
    // This payment cannot be used here: answer with a new offer.
    const isUnusable = refused.kind === 'unusable'
    const answer = isUnusable ? await sell(request) : first
    const refusal = isUnusable ? readRefusal(answer, errorOf(answer)) : refused
    if (!refusal || refusal.kind === 'unusable') return answer
    const failure = isUnusable ? refused.failure : undefined
    const { required, shown } = describe(refusal, { payment, failure })
    const { context } = contextOf(orders)
    return showPage(request, answer, {
      settled,
      security,
      data: {
        tokens: required ? await getTokens(context) : [],
        accepts: required?.accepts ?? [],
        description: required?.resource.description,
        needsIdentifier: isIdentifierRequired(required),
        cookie,
        keepFor: Number(keepFor),
        now: Math.floor(Date.now() / 1_000),
        answer: shown,
      },
    })
  }
}

/** If `resource` throws, `sell` reports it. */
function addressOf(
  request: Request,
  resource: (request: Request) => unknown,
): string {
  try {
    return String(resource(request))
  } catch {
    return request.url
  }
}

type Described = {
  required: PaymentRequired | undefined
  shown: PaywallAnswer
}

/** Decides what the page shows. */
function describe(
  refusal: Exclude<GateRefusal, { kind: 'unusable' }>,
  {
    payment,
    failure,
  }: Pick<PaywallAnswer, 'failure'> & {
    payment: string | undefined
  },
): Described {
  if (refusal.kind === 'later')
    return { required: undefined, shown: refusal.answer }
  const { required, code } = refusal
  if (payment === undefined) return { required, shown: {} }
  const shown = { failure: failure ?? explainCode(code) }
  return { required, shown: { ...shown, ended: nonceOf(payment) } }
}

function isIdentifierRequired(required: PaymentRequired | undefined): boolean {
  const declared = Object(required?.extensions?.['payment-identifier'])
  return Object(declared.info).required === true
}

type Shown = {
  settled: SettledPaywall
  security: ReturnType<typeof securityHeaders>
  data: Omit<
    PaywallData,
    'name' | 'terms' | 'language' | 'words' | 'accent' | 'onAccent'
  >
}

/**
 * Replaces the body of an answer with the page. Keeps its status and headers.
 */
function showPage(
  request: Request,
  { status, headers: given }: Response,
  { settled, security, data }: Shown,
): Response {
  const { name, logo, accent, terms } = settled
  const { language, words } = findWords(request, settled)
  const { script, style } = paywallAssets
  const told: PaywallData & ShopData<PageWords> = {
    ...data,
    name,
    terms,
    language,
    words,
    accent,
    onAccent: contrastOf(accent),
  }
  const html = renderPage({
    data: told,
    logo,
    styles: [`<style>${style.text}</style>`],
    scripts: [`<script type="module">${script.text}</script>`],
  })
  const headers = new Headers(given)
  headers.set('content-type', 'text/html; charset=utf-8')
  headers.set('content-language', language)
  for (const [field, value] of security) headers.set(field, value)
  return new Response(html, { status, headers })
}
