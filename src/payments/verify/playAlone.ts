import type { Address, Client } from 'viem'
import { isWord } from '../../chain/state/answers.js'
import { forgetToken } from '../../chain/state/getToken.js'
import { runCalls } from '../../chain/state/runCalls.js'
import { judgeRehearsal } from './judgeRehearsal.js'
import type { Play } from './planPlay.js'
import {
  actCall,
  balanceCall,
  factCalls,
  plainFallback,
  type RehearsalOptions,
} from './rehearse.js'
import type { Rehearsal } from './types.js'

/** What a capture showed, and what its payer had before it. */
export type Heard = { rehearsal: Rehearsal; payerBalance: bigint }

/** Plays one capture and undoes it, in one request. */
export async function playAlone(
  client: Client,
  { act, fixed, allowed }: Play,
  { block = 'latest', origin, fees }: RehearsalOptions,
): Promise<Heard> {
  const token = act.domain.verifyingContract
  const { to } = act.transfer
  const answers = await runCalls(client, {
    from: to,
    origin: origin?.toLowerCase() as Address | undefined,
    fees,
    scene: [actCall(act, allowed), balanceCall(token, to)],
    calls: {
      ...factCalls(token, act),
      payerBalance: balanceCall(token, act.payer),
    },
    block,
    fallback: plainFallback(act),
    plain: to === token,
  })
  const rehearsal = judgeRehearsal(act, answers, { gas: allowed, fixed })
  const { reason } = Object(rehearsal)
  if (reason === 'wrongDomain' || reason === 'unsupportedToken')
    forgetToken(client, token)
  const { payerBalance } = answers.calls
  return {
    rehearsal,
    payerBalance: isWord(payerBalance) ? BigInt(payerBalance.data) : 0n,
  }
}
