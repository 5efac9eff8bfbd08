/**
 * The style sheet of the payment page, which the element has too. Builds and
 * tests replace this module by what `scripts/bundlePages.ts` makes of
 * `pages/web/pay.css`.
 */
export const elementStyles: string = ''
