import type { Hex } from 'viem'

/** What a transaction does for channels. */
export type MovementAction = 'deposit' | 'claim' | 'refund'

/** What the id of a movement's row says. */
export type MovementName = {
  action: MovementAction
  /** Absent for a claim, which may be of many channels. */
  channelId: Hex | undefined
}

/**
 * Forms of the ids of movements in the table of orders. Orders cannot have such
 * ids: `parseNewId` refuses them. So the id alone shows that a row, an event or
 * a proof belongs to a movement.
 */
const forms: readonly (readonly [MovementAction, RegExp])[] = [
  ['deposit', /^(0x[\da-f]{64})\+[\da-f]{16}$/],
  ['refund', /^(0x[\da-f]{64})-\d{1,40}(?:\.\d{1,9})?$/],
  ['claim', /^claim\+[\da-f]{16}$/],
]

/** Parses the id of a movement; `undefined` for the id of any other row. */
export function parseMovementId(
  id: string | undefined,
): MovementName | undefined {
  if (id === undefined) return undefined
  for (const [action, form] of forms) {
    const found = form.exec(id)
    if (found) return { action, channelId: found[1] as Hex | undefined }
  }
  return undefined
}
