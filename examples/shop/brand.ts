/** What the demonstration shop is called everywhere. */
export const brand = {
  name: 'Countersign Coffee',
  line: 'Beans, roasted to order',
} as const
