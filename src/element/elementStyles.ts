/**
 * The style sheet of the payment page, also used by the element. Builds and
 * tests replace this module with the output of `scripts/bundlePages.ts` for
 * `pages/web/pay.css`.
 */
export const elementStyles: string = ''
