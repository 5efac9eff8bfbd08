import type { MerchantPagesParameters } from './merchantTypes.js'
import type { PageWords } from './words/types.js'

/** Parameters of {@link createPages}. */
export type PagesParameters = {
  /**
   * Where buyers reach the routes of `createPaymentHandler`: its `basePath`,
   * such as `/payments`, or the whole URL if they have another origin.
   */
  payments: string
  /** Name of the shop, as buyers know it. */
  name: string
  /** Path before all pages, such as `/checkout`. @default '' */
  basePath?: string | undefined
  /**
   * Address at which buyers reach `basePath`, such as
   * `https://shop.example/checkout`, for the links of `payUrl`.
   * @default links begin with `basePath`
   */
  url?: string | undefined
  /** A path on the same site, or a `data:image/…` URL. @default no logo */
  logo?: string | undefined
  /** Colour of buttons, such as `#3b3fc2`. @default '#3b3fc2' */
  accent?: string | undefined
  /**
   * Addresses to which a link may lead back. Each also allows other queries,
   * and if it ends with a slash, all addresses below it. @default none
   */
  returnUrls?: readonly string[] | undefined
  /** Address of your terms. @default no link */
  terms?: string | undefined
  /**
   * Language of the page.
   * @default what the browser prefers of `en`, `de` and `languages`
   */
  language?: string | undefined
  /** Texts in further languages, or other texts for `en` and `de`. */
  languages?: Readonly<Record<string, PageWords>> | undefined
  /**
   * Sites that may show the page in a frame, such as `https://shop.example`.
   * @default none
   */
  frameAncestors?: readonly string[] | undefined
  /** Adds the merchant's pages. @default they are not served */
  merchant?: MerchantPagesParameters | undefined
}

/**
 * Parameters of {@link createPaywall}, with the meaning that they have for
 * {@link createPages}.
 */
export type PaywallParameters = Pick<
  PagesParameters,
  | 'name'
  | 'logo'
  | 'accent'
  | 'terms'
  | 'language'
  | 'languages'
  | 'frameAncestors'
>

/** An order to pay. */
export type PayUrlParameters = {
  orderId: string
  /** From the result of `draft`. It stands behind the `#`, which no server gets. */
  buyerToken: string
  /** One of `returnUrls`, to which the page leads back. @default no link back */
  returnUrl?: string | undefined
}

/** A subscription to sign, follow and cancel. */
export type SubscribeUrlParameters = Pick<PayUrlParameters, 'returnUrl'> & {
  subscriptionId: string
  /** From the result of `issueBuyerToken`. It stands behind the `#`. */
  buyerToken: string
}

/** What {@link createPages} returns. */
export type Pages = {
  /** Answers a fetch `Request` with a `Response`. Never rejects. */
  (request: Request): Promise<Response>
  /**
   * Returns the link to the page of an order. Anyone who has the link has all
   * rights of the buyer.
   *
   * @throws `InvalidFieldError` when a parameter is malformed, or `returnUrl`
   * is none of `returnUrls`.
   */
  payUrl(parameters: PayUrlParameters): string
  /**
   * Returns the link to the page of a subscription, which needs the routes of
   * `createPaymentHandler` with `subscriptions`. Anyone who has the link has
   * all rights of the buyer.
   *
   * @throws `InvalidFieldError` when a parameter is malformed, or `returnUrl`
   * is none of `returnUrls`.
   */
  subscribeUrl(parameters: SubscribeUrlParameters): string
}
