import type { SigningRequest } from './readSigningRequest.js'
import { WalletFault } from './WalletFault.js'
import type { AccountName } from './walletMemory.js'

/** What the wallet asks its user; `undefined` as the answer is a no. */
export type Question =
  | { ask: 'connect' }
  | { ask: 'switch'; chainId: number }
  | { ask: 'sign'; request: SigningRequest }

export type Approval = { account: AccountName; chainId: number }

export type OpenQuestion = Question & {
  answer: (approval: Approval | undefined) => void
}

let open: OpenQuestion | undefined
const listeners = new Set<() => void>()

/**
 * Shows a question and waits for the answer.
 *
 * @throws {@link WalletFault} when the answer is no, or another is open.
 */
export async function askUser(question: Question): Promise<Approval> {
  if (open) throw new WalletFault(-32_002, 'Another question is open.')
  const approval = await new Promise<Approval | undefined>((resolve) => {
    show({ ...question, answer: resolve })
  })
  show(undefined)
  if (!approval) throw new WalletFault(4001, 'The user declined.')
  return approval
}

export function getQuestion(): OpenQuestion | undefined {
  return open
}

export function watchQuestion(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function show(question: OpenQuestion | undefined): void {
  open = question
  for (const listener of listeners) listener()
}
