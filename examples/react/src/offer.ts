/**
 * What the buyer agrees to: the page's own configuration. The wallet is not
 * asked to sign anything else, whatever the server drafts.
 */
export const offer = {
  chainId: 31337,
  token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  to: '0xB37d4F496a98A661FB34fD1824e90cE460871D6B',
  amount: '12.50',
} as const
