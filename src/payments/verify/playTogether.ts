import type { Address, Client } from 'viem'
import { NodeAnswerError } from '../../chain/rpc/errors.js'
import { isWord } from '../../chain/state/answers.js'
import { authorizationStateCall } from '../../chain/state/getAuthorizationState.js'
import { runCalls } from '../../chain/state/runCalls.js'
import type { Call } from '../../chain/state/types.js'
import { judgePlay, type Played, silence } from './judgePlay.js'
import { balanceGas, factGas, type Play } from './planPlay.js'
import {
  balanceCall,
  factCalls,
  neutralCaller,
  type RehearsalOptions,
} from './rehearse.js'

/**
 * Plays captures of one token one after another in one request, and undoes
 * them.
 *
 * @throws {@link NodeAnswerError} when the node does not play them so.
 */
export async function playTogether(
  client: Client,
  plays: readonly [Play, ...Play[]],
  { block = 'latest', origin, fees }: RehearsalOptions,
): Promise<readonly (readonly [Play, Played])[]> {
  const [{ act: first }] = plays
  const token = first.domain.verifyingContract
  const { to } = first.transfer
  const shared = plays.every(({ act }) => act.transfer.to === to)
  const { scene, places } = setScene(token, plays)
  const { head, calls, ...run } = await runCalls(client, {
    // Only Transfer goes to several, and may come from anyone.
    from: shared ? to : neutralCaller,
    origin: origin?.toLowerCase() as Address | undefined,
    fees,
    scene,
    calls: askedCalls(token, plays),
    block,
    fallback: refuseToPlay,
    plain: shared && to === token,
  })
  const fact = (name: string) => calls[name] ?? silence
  return plays.map((play, at) => {
    const { played, before } = places[at] ?? { played: 0 }
    const step = (place: number) => run.scene[place] ?? silence
    const told = judgePlay(play, {
      head,
      played: step(played),
      before: before === undefined ? fact('balance') : step(before),
      after: step(played + 1),
      cold: at === 0,
      filled: isWord(fact('balance')) && BigInt(fact('balance').data) > 0n,
      payerBalance: fact(`payer ${at}`),
      facts: {
        token: fact('token'),
        decimals: fact('decimals'),
        consumed: fact(`consumed ${at}`),
      },
    })
    return [play, { ...told, run: plays }] as const
  })
}

async function refuseToPlay(): Promise<never> {
  const problem = 'does not play captures together'
  throw new NodeAnswerError({ method: 'eth_call', problem })
}

/** Where in the scene a capture is, and the balance before it. */
type Place = { played: number; before?: number | undefined }

/**
 * Each capture with the recipient's balance behind it; before it stands that of
 * the capture before, or where that went elsewhere one more.
 */
function setScene(
  token: Address,
  plays: readonly Play[],
): { scene: Call[]; places: Place[] } {
  const scene: Call[] = []
  const places: Place[] = []
  let recipient = plays[0]?.act.transfer.to
  for (const { act, given } of plays) {
    const { to } = act.transfer
    const balance = { ...balanceCall(token, to), gas: balanceGas }
    if (to !== recipient) scene.push(balance)
    const before = scene.length - 1
    recipient = to
    places.push({
      played: scene.length,
      before: before < 0 ? undefined : before,
    })
    const data = act.call.data.slice(2)
    scene.push({ target: token, data, gas: given }, balance)
  }
  return { scene, places }
}

function askedCalls(
  token: Address,
  plays: readonly [Play, ...Play[]],
): Record<string, Call> {
  const common = factCalls(token, plays[0].act)
  const asked: Record<string, Call> = {
    token: common.token,
    decimals: common.decimals,
    balance: common.balance,
  }
  for (const [at, { act }] of plays.entries()) {
    const { payer, nonce } = act
    const consumed = authorizationStateCall(token, payer, nonce)
    asked[`consumed ${at}`] = { ...consumed, gas: factGas }
    asked[`payer ${at}`] = { ...balanceCall(token, payer), gas: factGas }
  }
  return asked
}
