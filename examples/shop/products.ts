export type Product = {
  id: string
  name: string
  description: string
  /** A decimal in whole tokens. */
  amount: string
  /** When the shop captures: as the order comes in, or when it is shipped. */
  capture: 'atOnce' | 'onShipping'
}

/** What the shop sells. */
export const products: readonly Product[] = [
  {
    id: 'house-blend',
    name: 'House Blend, 250 g',
    description: 'Whole beans with notes of cocoa and toasted almond.',
    amount: '12.50',
    capture: 'onShipping',
  },
  {
    id: 'pour-over-kit',
    name: 'Pour-Over Kit',
    description: 'Ceramic dripper, glass server and forty paper filters.',
    amount: '48.00',
    capture: 'onShipping',
  },
  {
    id: 'brewing-guide',
    name: 'Brewing Guide, PDF',
    description: 'Ratios, grinds and water for six ways to make a cup.',
    amount: '5.00',
    capture: 'atOnce',
  },
  {
    id: 'mixed-crate',
    name: 'Mixed Crate',
    description: 'Six bags of the season, for an office or a long winter.',
    amount: '66.00',
    capture: 'onShipping',
  },
]
