import type { BuyerState } from '../../client/BuyerClient.js'
import { signPayment } from '../../payments/sign/signPayment.js'
import { loadKind, type PageDraft, requestDraft } from './draft.js'
import { NotOpen, WrongAccount } from './failures.js'
import { checkWalletChain } from './network.js'
import type { OpenedBuyer } from './openBuyer.js'
import type { PageToken } from './pageData.js'
import type { Connection } from './wallets.js'

export type PayPhase = 'checking' | 'signing' | 'sending'

type PayParameters = OpenedBuyer & {
  connection: Connection
  /** The order as the page shows it: nothing else is signed. */
  shown: BuyerState
  token: PageToken
  onPhase: (phase: PayPhase) => void
  /** True while the order still waits for a payment. */
  isOpen: () => boolean
  signal: AbortSignal
}

/**
 * Has the wallet sign what the page shows, and hands it to the shop. The
 * signature stays in memory: a buyer who reloads before the shop has it must
 * sign again.
 */
export async function pay(parameters: PayParameters): Promise<BuyerState> {
  const { buyer, now, connection, shown, token, signal } = parameters
  const { account, wallet } = connection
  const { onPhase, isOpen } = parameters
  onPhase('checking')
  await checkWalletChain(connection, token)
  const draft = await requestDraft(buyer, signal)
  const from = draft.message.from || account
  if (from.toLowerCase() !== account) throw new WrongAccount(from)
  const kind = await loadKind(draft)
  const payment = kind.decode({ ...draft, message: { ...draft.message, from } })
  if (!isOpen()) throw new NotOpen()
  onPhase('signing')
  const { provider } = wallet
  const seconds = now()
  const signed = await signPayment(
    { request: (args) => provider.request(args), account },
    {
      payment,
      kind,
      expect: {
        chainId: token.chainId,
        token: token.token,
        to: shown.recipient,
        decimals: token.decimals,
        maxWindow: BigInt(shown.window.validBefore) - BigInt(seconds),
        ...totalOf(shown, draft),
      },
      now: BigInt(seconds),
      signal,
    },
  )
  // Another account may have paid meanwhile, and the shop could collect both.
  if (!isOpen()) throw new NotOpen()
  onPhase('sending')
  return buyer.sendPayment(signed, { kind, signal })
}

/** What the page shows of the total, and who may submit. */
function totalOf({ amount, atMost }: BuyerState, draft: PageDraft) {
  if (atMost !== undefined)
    return {
      atMost,
      operator: draft.checkout?.operator as `0x${string}` | undefined,
    }
  const primaryType =
    draft.primaryType === 'TransferWithAuthorization'
      ? ('TransferWithAuthorization' as const)
      : ('ReceiveWithAuthorization' as const)
  return { amount, primaryType }
}
